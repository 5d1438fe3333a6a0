// Runs a MongoDB as the tests get it, for use by hand: prints its address, and stays until Ctrl-C.
import { type MongoDBServer, MongoDBUnavailable, startMongoDB } from './start.ts';

let server: MongoDBServer;
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
let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void server.stop().finally(() => clearInterval(stay));
  });
}
