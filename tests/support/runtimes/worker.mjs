// For an edge runtime without a process: it has no environment variables, so the options are passed.
import * as client from '@latchkey/client';
import { program } from './program.mjs';

export default {
  async test(_, { LATCHKEY_URL: baseUrl, LATCHKEY_APPLICATION_SECRET: applicationSecret, ...env }) {
    if (typeof process !== 'undefined') throw new Error('There is a process.');
    const options = { baseUrl, applicationSecret };
    await program(client, options, env.LATCHKEY_CODE, env.NOBODY);
  },
};
