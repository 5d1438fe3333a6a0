const client = require('@latchkey/client');
const admin = require('@latchkey/client/admin');
const events = require('@latchkey/client/events');
const guards = require('@latchkey/client/guards');
const host = require('@latchkey/client/host');
const linking = require('@latchkey/client/linking');

void import('./program.mjs').then(({ program }) =>
  program({ client, events, guards, linking, host, admin }, undefined, process.env),
);
