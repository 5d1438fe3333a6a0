import { Latchkey } from '@latchkey/client';
import { createMcp } from './server.ts';

const { PORT, RESOURCE = '', LATCHKEY_URL = '' } = process.env;
// It only reads grants, so it needs no secret.
const latchkey = new Latchkey({ applicationSecret: null });
const notesOf = (accountId: string) => [`A note of ${accountId}`];
const at = { resource: RESOURCE, authorizationServer: LATCHKEY_URL };
createMcp(latchkey, at, notesOf).listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`The MCP server: ${RESOURCE}\n`);
});
