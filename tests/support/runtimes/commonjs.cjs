const client = require('@latchkey/client');
const admin = require('@latchkey/client/admin');
const linking = require('@latchkey/client/linking');

void import('./program.mjs').then(({ program }) =>
  program({ client, linking, admin }, undefined, process.env),
);
