/**
 * A server with Fastify. Its guard is a hook of one route and runs before the body is read.
 *
 *     npm exec -c 'node examples/guards/fastify.ts'
 *
 * LATCHKEY_URL is the URL of Latchkey. PORT is the port to listen on.
 */

import { Latchkey } from '@latchkey/client';
import { fastifyGuard, grantOf } from '@latchkey/client/guards';
import { fastify } from 'fastify';

// This server only reads grants, so it needs no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

const app = fastify();

app.get('/photos', {
  onRequest: fastifyGuard({ latchkey, scope: 'photos.read' }),
  handler: async (request) => {
    const { account } = grantOf(request);
    return { owner: account.id, photos: ['harbour.jpg'] };
  },
});

const url = await app.listen({ port: Number(process.env.PORT ?? 4000), host: '127.0.0.1' });
process.stdout.write(`${url}\n`);
