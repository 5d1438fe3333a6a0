// For an edge runtime without a process: it has no environment variables, so the options are passed.
// The entry points are modules of their files' names here, since one imports another.
import * as admin from '@latchkey/client/admin.js';
import * as events from '@latchkey/client/events.js';
import * as guards from '@latchkey/client/guards.js';
import * as host from '@latchkey/client/host.js';
import * as client from '@latchkey/client/index.js';
import * as linking from '@latchkey/client/linking.js';
import { optionsFrom, program } from './program.mjs';

export default {
  async test(_, env) {
    if (typeof process !== 'undefined') throw new Error('There is a process.');
    await program({ client, events, guards, linking, host, admin }, optionsFrom(env), env);
  },
};
