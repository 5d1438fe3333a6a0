// Starts a MongoDB as the tests get it, for use by hand: prints its URL, and stays until Ctrl-C.
import { MongoDBUnavailable, startMongoDB, type TestMongoDB } from './start.ts';

let server: TestMongoDB;
try {
  server = await startMongoDB();
} catch (error) {
  if (!(error instanceof MongoDBUnavailable)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
process.stdout.write(`${server.url}\n`);

// The server itself does not keep this process alive.
const stay = setInterval(() => undefined, 60_000);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void server.stop().finally(() => clearInterval(stay)));
}
