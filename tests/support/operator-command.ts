import { fileURLToPath } from 'node:url';
import type { TestServer } from '@latchkey/testing';
import { environment, succeed } from './service.ts';

const command = fileURLToPath(new URL('../../apps/server/src/cli/latchkey.ts', import.meta.url));

/** Runs a command of the sources on a test server. Resolves to its output. */
export function runOperatorCommand(
  { baseUrl, adminSecret }: Pick<TestServer, 'baseUrl' | 'adminSecret'>,
  words: readonly string[],
): Promise<string> {
  const env = environment({ LATCHKEY_ADMIN_SECRET: adminSecret });
  return succeed(process.execPath, [command, ...words, '--service', baseUrl], { env });
}
