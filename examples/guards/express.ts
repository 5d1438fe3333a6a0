/**
 * A server with Express. Its guard protects one route.
 *
 *     npm exec -c 'node examples/guards/express.ts'
 *
 * LATCHKEY_URL is the URL of Latchkey. PORT is the port to listen on.
 */

import type { AddressInfo } from 'node:net';
import { Latchkey } from '@latchkey/client';
import { expressGuard, grantOf } from '@latchkey/client/guards';
import express from 'express';

// This server only reads grants, so it needs no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

const app = express();

app.get('/photos', expressGuard({ latchkey, scope: 'photos.read' }), (request, response) => {
  const { account } = grantOf(request);
  response.json({ owner: account.id, photos: ['harbour.jpg'] });
});

const server = app.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
