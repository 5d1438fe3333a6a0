import type { RequestListener } from 'node:http';
import { listen } from '../listen.ts';
import type { RunningServer, StartOptions, Wire } from './contender.ts';
import { ServerProcess } from './server-process.ts';

/** The first line that a contender's program prints. */
interface Ready<About> {
  url: string;
  about: About;
}

const ISSUE_PATH = '/issue?count=';

/**
 * Runs the program of a contender in its own process: listens, prints its URL, and issues codes for
 * `POST /issue?count=N`.
 *
 * @param program - returns the server, and as `about` what its wire needs, as JSON
 */
export async function runProgram(
  program: (url: string) => Promise<{
    listener: RequestListener;
    issue(count: number): Promise<string[]>;
    about: unknown;
  }>,
): Promise<void> {
  const server = await listen();
  const { listener, issue, about } = await program(server.url);
  server.handle((request, response) => {
    if (!request.url?.startsWith(ISSUE_PATH)) return listener(request, response);
    issue(Number(request.url.slice(ISSUE_PATH.length))).then(
      (codes) => response.end(JSON.stringify(codes)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  process.stdout.write(`${JSON.stringify({ url: server.url, about })}\n`);
  process.once('SIGTERM', () => process.exit());
}

/**
 * Starts the program of a contender.
 *
 * @param args - for the program
 */
export async function startProgram<About>(
  file: string,
  options: StartOptions,
  wire: (about: About) => Wire,
  args: readonly string[] = [],
): Promise<RunningServer> {
  const child = new ServerProcess([...options.nodeArguments, file, ...args], {
    folder: options.folder,
    env: { ...(options.databaseUrl !== undefined && { DATABASE_URL: options.databaseUrl }) },
  });
  const [line] = await child.waitForOutput(/^\{"url".+(?=\n)/m);
  const { url, about }: Ready<About> = JSON.parse(line);
  return {
    process: child,
    url: new URL(url),
    wire: wire(about),
    async issue(count) {
      const response = await fetch(url + ISSUE_PATH + count, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as string[];
    },
    startMilliseconds: performance.now() - child.startedAt,
  };
}
