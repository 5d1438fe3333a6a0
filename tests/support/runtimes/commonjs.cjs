const client = require('@latchkey/client');

import('./program.mjs').then(({ program }) =>
  program(client, undefined, process.env.LATCHKEY_CODE, process.env.NOBODY),
);
