import { fileURLToPath } from 'node:url';
import { Latchkey } from '@latchkey/client';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { createTestServer } from '@latchkey/testing';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, startLinkingProgram } from './support/linking-program.ts';
import { buildNextApplication } from './support/next/next.ts';
import { environment } from './support/service.ts';

// Next.js puts a cache before `fetch`, and keeps what it has rendered when it built an application. What
// it keeps unasked differs with each version.

const files = fileURLToPath(new URL('./support/next/linked', import.meta.url));

test.each([14, 15, 16] as const)(
  'a page and a route handler of Next.js %i notice that a grant was revoked',
  async (version) => {
    const service = await createTestServer();
    onTestFinished(() => service.close());
    const { baseUrl, applicationSecret } = service;
    const latchkey = new Latchkey({ baseUrl, applicationSecret });
    const { code } = await service.issueCode({ account: { username: 'ada' } });
    const { grant_id, grant_secret } = await latchkey.convert(code);
    const env = environment({
      LATCHKEY_URL: baseUrl,
      LATCHKEY_APPLICATION_SECRET: applicationSecret,
      GRANT_SECRET: grant_secret,
    });

    // The service runs while it is built, so that what is asked for then can be kept.
    const application = await buildNextApplication(files, '.', { version, env });
    onTestFinished(application.remove);
    const port = await freePort();
    const words = [process.execPath, ...application.start.slice(0, -1), port];
    const program = await startLinkingProgram(words, port, { cwd: application.folder, env });
    onTestFinished(program.stop);

    const seen = () =>
      Promise.all(
        ['', '/api'].map(async (path) => {
          const text = await (await fetch(program.url + path)).text();
          return /<p>(.*?)<\/p>/.exec(text)?.[1] ?? text;
        }),
      );
    expect(await seen()).toEqual(['linked as ada', 'linked as ada']);
    await latchkey.revoke(grant_id);
    expect(await seen()).toEqual(['not linked', 'not linked']);
  },
  INSTALL_TIMEOUT_MS,
);
