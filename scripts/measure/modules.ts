import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const counter = new URL('count-modules.ts', import.meta.url).href;
const command = fileURLToPath(new URL('../../apps/server/src/cli/latchkey.ts', import.meta.url));

/** The modules that `latchkey --version` loads, run from the sources. */
export async function modulesOfVersion(): Promise<number> {
  const words = ['--import', counter, command, '--version'];
  const { stderr } = await promisify(execFile)(process.execPath, words, {
    env: { PATH: process.env.PATH },
  });
  const [, count] = /^(\d+) modules$/m.exec(stderr) ?? [];
  return Number(count);
}
