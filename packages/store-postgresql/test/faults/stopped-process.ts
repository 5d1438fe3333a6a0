// Changes the use mark in a transaction, says so, and stops.
import { defaultTimeouts } from '@latchkey/store/server-store';
import { Database } from '../../src/database.ts';

const { DATABASE_URL = '', OPERATION_MS } = process.env;
const database = new Database(DATABASE_URL, {
  ...defaultTimeouts,
  operation: Number(OPERATION_MS),
});
await database.transaction(async (send) => {
  await send("UPDATE use_mark SET mark = 'of the stopped one'");
  process.stdout.write('Locked');
  process.kill(process.pid, 'SIGSTOP');
});
