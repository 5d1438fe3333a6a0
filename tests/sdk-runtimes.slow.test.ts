import { cp, glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PUBLIC_URL, startLinkingService } from './support/linking-service.ts';
import { addressOfNobody } from './support/nobody.ts';
import { ADMIN_SECRET } from './support/operator.ts';
import { installPackedSdk } from './support/packed-sdk.ts';
import { hasRuntimes, installRuntimes, runtimes } from './support/runtimes/runtimes.ts';
import { environment, latchkey, pairIn, type ServiceProcess, succeed } from './support/service.ts';

// The packed SDK on everything that applications run on, against the service. Each runtime brings
// its own `fetch`, timers, signals and module loader: only running it there shows that it runs.

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

let packages: string;
let application: string;
let service: ServiceProcess;
let nobody: string;

if (hasRuntimes) {
  beforeAll(async () => {
    packages = await installRuntimes();
    application = await mkdtemp(join(tmpdir(), 'latchkey-runtimes-'));
    for await (const file of glob('*.{mjs,cjs,capnp}', { cwd: here('support/runtimes') })) {
      await cp(here(`support/runtimes/${file}`), join(application, file));
    }
    await installPackedSdk(application);
    service = await startLinkingService(application);
    nobody = await addressOfNobody();
  }, INSTALL_TIMEOUT_MS);

  afterAll(async () => {
    await service?.stop();
    await rm(application, { recursive: true, force: true });
  });
}

// Elsewhere than on Linux and x64 each is named as not run.
describe.each(runtimes)('$name', { skip: !hasRuntimes }, (runtime) => {
  const { name, program, version, runs } = runtime;
  const path = () => resolve(packages, program);

  test('is the one it should be', async () => {
    const [said = ''] = (await succeed(path(), version.words, { env: environment() })).split('\n');
    process.stdout.write(`@latchkey/client runs on ${name}: ${said}\n`);
    expect(said).toMatch(version.matches);
  });

  test.each(runs)('links, reads and unlinks an account, with $modules', async ({ words }) => {
    const demo = await latchkey(['demo'], { cwd: application, env: environment() });
    const { applicationSecret, code } = pairIn(demo.stdout);
    const given = {
      LATCHKEY_URL: service.url,
      LATCHKEY_APPLICATION_SECRET: applicationSecret,
      LATCHKEY_PUBLIC_URL: PUBLIC_URL,
      LATCHKEY_ADMIN_SECRET: ADMIN_SECRET,
      LATCHKEY_CODE: code,
      NOBODY: nobody,
    };
    const env = environment({
      ...given,
      GIVEN: JSON.stringify(given),
      NO_COLOR: '1',
      // Deno would keep what it compiles in the home of whoever runs this.
      DENO_DIR: join(application, 'deno'),
      DENO_NO_UPDATE_CHECK: '1',
    });
    const printed = await succeed(path(), words, { cwd: application, env });
    expect(JSON.parse(printed)).toEqual({
      linked: true,
      read: true,
      again: 'CodeAlreadyUsedError',
      stack: true,
      left: 'The user left.',
      requestLeft: true,
      unreachable: 'ConnectionError',
      maybe_sent: !runtime.tellsRefusal,
      late: 'TimeoutError',
      ...{ guarded: 200, foreign: 401, metadata: ['https://link.example'], verified: true },
      ...{ received: 204, handled: '0193aa00-0000-7000-8000-000000000001', tampered: 400 },
      unlinked: true,
      refused: 'AuthenticationError',
      signsIn: true,
      asks: true,
      signedOut: 204,
      linkedInBrowser: 'http://127.0.0.1/settings',
      active: true,
      revoked: true,
      other: 'StateMismatchError',
      decided: 'link_decided',
    });
  });
});
