import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  environment,
  latchkey,
  pairIn,
  run,
  type ServiceProcess,
  startService,
} from './test/service.ts';
import { requireTools, type Tool } from './test/tools.ts';

interface Example {
  file: string;
  program: string;
  tools: readonly Tool[];
}

const examples: Example[] = [
  { file: 'link-account.ts', program: process.execPath, tools: [] },
  { file: 'link_account.py', program: 'python3', tools: ['python3'] },
  { file: 'link-account.sh', program: 'bash', tools: ['bash', 'curl'] },
];

let folder: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-examples-'));
  service = await startService({ cwd: folder, env: environment() });
});

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

describe.each(examples)('$file', ({ file, program, tools }) => {
  const start = (env: Record<string, string>) =>
    run(program, [fileURLToPath(new URL(file, import.meta.url))], { env: environment(env) });

  const freshPair = async () => {
    const demo = await latchkey(['demo'], { cwd: folder, env: environment() });
    const { applicationSecret, code } = pairIn(demo.stdout);
    return {
      LATCHKEY_URL: service.url,
      LATCHKEY_APPLICATION_SECRET: applicationSecret,
      LATCHKEY_CODE: code,
    };
  };

  const list = async <Entry>(...words: string[]) => {
    const { stdout } = await latchkey([...words, '--json'], { cwd: folder, env: environment() });
    return (JSON.parse(stdout) as { data: Entry[] }).data;
  };

  /** How many grants of the demo there are, and how many of them are active. */
  const grants = async () => {
    const [demo] = await list<{ id: string }>('app', 'list');
    const all = await list<{ revoked: boolean }>('grant', 'list', '--app', String(demo?.id));
    return { all: all.length, active: all.filter(({ revoked }) => !revoked).length };
  };

  beforeAll(() => requireTools(tools, environment()));

  test('links an account, uses it and unlinks it', async () => {
    const before = await grants();

    expect(await start(await freshPair())).toEqual({
      exitCode: 0,
      stdout: 'Linked ada for profile.read\nThe account is Ada Lovelace, verified\nUnlinked\n',
      stderr: '',
    });
    expect(await grants()).toEqual({ all: before.all + 1, active: before.active });
  });

  test('says that a code was used before, and shows no credential', async () => {
    const pair = await freshPair();
    await start(pair);

    const again = await start(pair);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(again.stderr).toMatch(/^code_already_used: .+\n$/);
    expect(again.stderr).not.toMatch(/lk_(?:app|code|grant)_\w/);
  });

  test('says so where the secret is missing', async () => {
    const { exitCode, stdout, stderr } = await start({ LATCHKEY_URL: service.url });
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^(?:credentials_invalid|LatchkeyConfigError): /);
  });
});
