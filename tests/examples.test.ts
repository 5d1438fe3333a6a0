import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { formatCredential } from '@latchkey/schema';
import { runsAll, slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { examplesFolder } from './support/examples-folder.ts';
import { type Fault, startFaultyService } from './support/faulty-service.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import { environment, run, type ServiceProcess, startService } from './support/service.ts';
import { GSON, missingTools, requireTools, type Tool } from './support/tools.ts';

interface Example {
  file: string;
  tools: readonly Tool[];
  /** Whether it needs a compiler. Developers may lack it, and `npm test` has no time for it. */
  compiled?: boolean;
  /** Compiles it into a folder if it needs that. Returns the command that runs it. */
  command(file: string, folder: string): Promise<string[]> | string[];
}

/** Runs a compiler. */
async function compile(program: string, words: string[]): Promise<void> {
  const ended = await run(program, words, { env: environment() });
  expect(ended).toEqual({ exitCode: 0, stdout: '', stderr: '' });
}

const withRest: Example[] = [
  { file: 'link_account.py', tools: ['python3'], command: (file) => ['python3', file] },
  { file: 'link-account.sh', tools: ['bash', 'curl'], command: (file) => ['bash', file] },
  {
    file: 'link-account.go',
    tools: ['go'],
    compiled: true,
    async command(file, folder) {
      const program = join(folder, 'link-account');
      await compile('go', ['build', '-o', program, file]);
      return [program];
    },
  },
  {
    file: 'LinkAccount.java',
    tools: ['javac', 'gson'],
    compiled: true,
    async command(file, folder) {
      await compile('javac', ['-cp', GSON, '-d', folder, file]);
      // The flags shorten the start of a program that exits soon.
      const flags = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
      return ['java', ...flags, '-cp', folder + delimiter + GSON, 'LinkAccount'];
    },
  },
];
const withSdk: Example = {
  file: 'link-account.ts',
  tools: [],
  command: (file) => [process.execPath, file],
};

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';

let folder: string;
let service: ServiceProcess;
let application: { id: string; secret: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-examples-'));
  service = await startService({ cwd: folder, env: environment({ ADMIN_SECRET }) });
  application = await operator(service, 'POST', '/applications', { name: 'Acme' });
  const account = { username: 'ada', display_name: 'Ada Lovelace' };
  await operator(service, 'PUT', `/accounts/${ACCOUNT}`, account);
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The environment of a program, with its own code. */
async function freshPair() {
  const about = { application_id: application.id, account_id: ACCOUNT, scope: 'profile.read' };
  const { code } = await operator<{ code: string }>(service, 'POST', '/codes', about);
  return {
    LATCHKEY_URL: service.url,
    LATCHKEY_APPLICATION_SECRET: application.secret,
    LATCHKEY_CODE: code,
  };
}

/** Counts the grants and those of them that are active. */
async function grants() {
  const path = `/grants?application_id=${application.id}&limit=100`;
  const { data } = await operator<{ data: { revoked: boolean }[] }>(service, 'GET', path);
  return { all: data.length, active: data.filter(({ revoked }) => !revoked).length };
}

const linked = {
  exitCode: 0,
  stdout: 'Linked ada for profile.read\nThe account is Ada Lovelace\nUnlinked\n',
  stderr: '',
};

type Start = (env: Record<string, string>) => ReturnType<typeof run>;

/** The tests of all examples. `suite` adds those of some examples and gets a way to start the program. */
async function describeExample(example: Example, suite: (start: Start) => void): Promise<void> {
  const { file, tools, compiled = false, command } = example;
  const missing = compiled && runsAll && !process.env.CI ? await missingTools(tools) : [];
  const title = missing.length > 0 ? `${file} (not run: there is no ${missing.join(', ')})` : file;
  describe.skipIf(missing.length > 0)(title, compiled ? slow : {}, () => {
    let words: string[];
    beforeAll(async () => {
      await requireTools(tools);
      words = await command(join(examplesFolder, file), folder);
    });
    const start: Start = (env) => {
      const [program = '', ...more] = words;
      return run(program, more, { env: environment(env) });
    };

    test('links an account, uses it and unlinks it', async () => {
      const before = await grants();
      expect(await start(await freshPair())).toEqual(linked);
      expect(await grants()).toEqual({ all: before.all + 1, active: before.active });
    });

    test('says that the secret is missing', async () => {
      const { exitCode, stdout, stderr } = await start({ LATCHKEY_URL: service.url });
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^(?:credentials_invalid|LatchkeyConfigError): /);
    });

    suite(start);
  });
}

await describeExample(withSdk, (start) => {
  test('says that a code was already used, and shows no credential', async () => {
    const pair = await freshPair();
    await start(pair);

    const again = await start(pair);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(again.stderr).toMatch(/^code_already_used: .+\n$/);
    expect(again.stderr).not.toMatch(/lk_(?:app|code|grant)_\w/);
  });
});

for (const example of withRest) {
  await describeExample(example, (start) => {
    const startBehind = async (faults: Record<string, Fault[]>) => {
      const faulty = await startFaultyService(service.url, faults);
      const ended = await start({ ...(await freshPair()), LATCHKEY_URL: faulty.url });
      await faulty.close();
      return { ended, calls: faulty.calls };
    };

    // Concurrently: these programs spend most of their time waiting.
    describe.concurrent('on an error', slow, () => {
      test('waits for Retry-After and retries', async () => {
        const { ended, calls } = await startBehind({
          '/oauth/convert': [{ refuse: 'rate_limited' }, { refuse: 'store_unavailable' }],
          '/oauth/revoke': [{ refuse: 'store_unavailable' }],
        });
        expect(ended).toEqual(linked);
        const times = calls.filter(({ path }) => path === '/oauth/convert').map(({ at }) => at);
        const [first = 0, second = 0, third = 0] = times;
        expect(times).toHaveLength(3);
        // Retry-After is 1 s. Timers and clocks may be a little off.
        for (const waited of [second - first, third - second]) {
          expect(waited).toBeGreaterThanOrEqual(950);
        }
      });

      test('recovers if every response is lost once', async () => {
        const { ended, calls } = await startBehind({
          '/oauth/convert': ['lose'],
          '/oauth/recover': ['lose'],
          '/v1/account': ['lose'],
          '/oauth/revoke': ['lose'],
        });
        expect(ended).toEqual(linked);
        expect(calls.filter(({ path }) => path === '/oauth/recover')).toHaveLength(2);
      });

      test('recovers if a proxy answers in place of the service', async () => {
        const { ended } = await startBehind({
          '/oauth/convert': ['page'],
          '/v1/account': ['page'],
          '/oauth/revoke': ['page'],
        });
        expect(ended).toEqual(linked);
      });

      test('resolves an unknown outcome of a convert that succeeded', async () => {
        const lost: Fault = { loseBehind: 'outcome_unknown' };
        const { ended } = await startBehind({ '/oauth/convert': [lost] });
        expect(ended).toEqual(linked);
      });

      test('resolves an unknown outcome of a convert that failed', async () => {
        const { ended } = await startBehind({ '/oauth/convert': [{ refuse: 'outcome_unknown' }] });
        expect(ended).toEqual(linked);
      });

      test.each(['code_expired', 'code_not_found'] as const)(
        'lets the user start again after %s',
        async (error_code) => {
          const { ended } = await startBehind({ '/oauth/convert': [{ refuse: error_code }] });
          expect(ended).toMatchObject({ exitCode: 1, stdout: '' });
          expect(ended.stderr).toMatch(
            new RegExp(`^${error_code}: let the user start again\\.?\\n$`),
          );
        },
      );

      test('lets the user start again with a code whose grant was revoked', async () => {
        const pair = await freshPair();
        await start(pair);
        const again = await start(pair);
        expect(again).toMatchObject({ exitCode: 1, stdout: '' });
        expect(again.stderr).toMatch(/^grant_not_found: let the user start again\.?\n$/);
      });

      test('names the setting with the wrong secret', async () => {
        const id = '0193aa00-0000-7000-8000-000000000001';
        const unknown = formatCredential('applicationSecret', id, new Uint8Array(32));
        const pair = { ...(await freshPair()), LATCHKEY_APPLICATION_SECRET: unknown };
        const { exitCode, stdout, stderr } = await start(pair);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
        expect(stderr).toMatch(/^credentials_invalid: check LATCHKEY_APPLICATION_SECRET\.?\n$/);
        expect(stderr).not.toContain(unknown);
      });

      test('names the address if there is no service', async () => {
        const nowhere = { ...(await freshPair()), LATCHKEY_URL: 'http://127.0.0.1:1' };
        const { exitCode, stdout, stderr } = await start(nowhere);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
        expect(stderr).toMatch(/127\.0\.0\.1:1\b/);
      });
    });
  });
}
