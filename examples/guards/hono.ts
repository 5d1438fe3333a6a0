/**
 * A server with Hono. Its guard protects every route under `/photos`.
 *
 * LATCHKEY_URL is the URL of Latchkey.
 */

import { Latchkey } from '@latchkey/client';
import { grantOf, honoGuard } from '@latchkey/client/guards';
import { Hono } from 'hono';

// This server only reads grants, so it needs no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

const app = new Hono();

app.use('/photos/*', honoGuard({ latchkey, scope: 'photos.read' }));

app.get('/photos', (context) => {
  const { account } = grantOf(context);
  return context.json({ owner: account.id, photos: ['harbour.jpg'] });
});

export default app;
