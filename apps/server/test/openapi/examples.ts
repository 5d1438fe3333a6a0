import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The expected content of apps/server/src/openapi/examples.json. */
export async function recordedExamples(): Promise<string> {
  const program = fileURLToPath(new URL('./record-examples.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  return stdout;
}
