import type { RequestListener } from 'node:http';
import { listen } from '../listen.ts';
import type { Place, Running, Wire } from './contender.ts';
import { ServerProcess } from './server-process.ts';

/** What a contender's program tells of itself in its first line. */
interface Ready<About> {
  url: string;
  about: About;
}

const ISSUE = '/issue?count=';

/**
 * The program of a contender, in its process: listens, tells so on stdout, and besides answers
 * `POST /issue?count=N` with codes.
 *
 * @param program.about - what its wire needs to know, as JSON
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
    if (!request.url?.startsWith(ISSUE)) return listener(request, response);
    issue(Number(request.url.slice(ISSUE.length))).then(
      (codes) => response.end(JSON.stringify(codes)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  process.stdout.write(`${JSON.stringify({ url: server.url, about })}\n`);
  process.once('SIGTERM', () => process.exit());
}

/** Starts the program of a contender in a process of its own. */
export async function startProgram<About>(
  file: string,
  place: Place,
  wire: (about: About) => Wire,
): Promise<Running> {
  const server = new ServerProcess([...place.nodeArguments, file], {
    folder: place.folder,
    env: { ...(place.mongodbUrl !== undefined && { DATABASE_URL: place.mongodbUrl }) },
  });
  const [line] = await server.printed(/^\{"url".+(?=\n)/m);
  const { url, about }: Ready<About> = JSON.parse(line);
  return {
    server,
    url: new URL(url),
    wire: wire(about),
    async issue(count) {
      const response = await fetch(url + ISSUE + count, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as string[];
    },
    startMilliseconds: performance.now() - server.startedAt,
  };
}
