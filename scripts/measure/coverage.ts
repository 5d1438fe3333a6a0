import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nodeArgumentsFor } from '../../packages/test-kit/src/mongodb/test-databases.ts';

/** A program of the sources that runs with V8's precise coverage. */
export interface CoveredProgram {
  /** Waits until its standard output matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends it a request, and waits until it is done. */
  ask(request: string): Promise<void>;
  /**
   * The functions of the service that run each time something is done, after a warm-up. What runs
   * only now and then, such as a timer, is left out.
   */
  runningFor(run: () => Promise<unknown>): Promise<Functions>;
}

/** Each is the path of its file, where in it the function begins, and its name, with colons between. */
type Functions = Set<string>;

/** The names of functions by their file, in the order of the code. */
export function namesByFile(functions: Functions): Map<string, string[]> {
  const names = new Map<string, string[]>();
  const parts = [...functions].map((one) => one.split(':') as [string, string, string]);
  parts.sort(([a, from], [b, to]) => a.localeCompare(b) || Number(from) - Number(to));
  for (const [path, , name] of parts) names.set(path, [...(names.get(path) ?? []), name || '=>']);
  return names;
}

/** How often something is done before it is measured, and while it is. */
export const [WARM_UPS, TIMES] = [10, 5];

const root = new URL('../../', import.meta.url);
const SOURCE = /\/((?:apps|packages)\/[^/]+\/src\/.+)$/;
/** In milliseconds, for what follows a response, such as its line in the access log. */
const AFTERWARDS = 100;

/**
 * Runs a program in a folder of its own, and kills it in the end.
 *
 * @param command - its path in the repository, and its arguments
 * @param settings - its environment, besides PATH
 */
export async function withCoveredProgram<T>(
  [path = '', ...words]: readonly string[],
  settings: { DATABASE_URL: string; [name: string]: string },
  use: (program: CoveredProgram) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-measure-'));
  const reports = join(folder, 'coverage');
  const probe = new URL('probe.ts', import.meta.url).href;
  const program = fileURLToPath(new URL(path, root));
  // What V8 has inlined is not counted, and when it does so depends on how busy the machine is.
  const node = [
    '--no-opt',
    '--no-maglev',
    '--import',
    probe,
    ...nodeArgumentsFor(settings.DATABASE_URL),
  ];
  const child = spawn(process.execPath, [...node, program, ...words], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...settings, NODE_V8_COVERAGE: reports },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let [output, errors] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const exit = once(child, 'exit');
  const end = exit.then((): never => {
    throw new Error(`${path} ended.\n${output}${errors}`);
  });
  // In the end, nobody waits for it.
  end.catch(() => undefined);

  async function ask(request: string): Promise<void> {
    const answer = once(child, 'message');
    child.send(request);
    await Promise.race([answer, end]);
  }

  /** What ran since the last call. */
  async function takeCoverage(): Promise<Functions> {
    await sleep(AFTERWARDS);
    await ask('take');
    const [name = ''] = await readdir(reports);
    const report = JSON.parse(await readFile(join(reports, name), 'utf8'));
    await rm(join(reports, name));
    return functionsIn(report);
  }

  try {
    return await use({
      async printed(pattern) {
        for (;;) {
          const match = pattern.exec(output);
          if (match) return match;
          await Promise.race([once(child.stdout ?? child, 'data'), end]);
        }
      },
      ask,
      async runningFor(run) {
        for (let time = 0; time < WARM_UPS; time++) await run();
        await takeCoverage();
        await run();
        let each = await takeCoverage();
        for (let time = 1; time < TIMES; time++) {
          await run();
          const again = await takeCoverage();
          each = new Set([...each].filter((one) => again.has(one)));
        }
        return each;
      },
    });
  } finally {
    child.kill('SIGKILL');
    await exit;
    await rm(folder, { recursive: true });
  }
}

/** A file that `NODE_V8_COVERAGE` asks for. */
interface Report {
  result: {
    url: string;
    functions: { functionName: string; ranges: { startOffset: number; count: number }[] }[];
  }[];
}

function functionsIn({ result }: Report): Functions {
  const found: Functions = new Set();
  for (const { url, functions } of result) {
    const [, path] = SOURCE.exec(url) ?? [];
    if (path === undefined) continue;
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges;
      if (whole && whole.count > 0) found.add(`${path}:${whole.startOffset}:${functionName}`);
    }
  }
  return found;
}
