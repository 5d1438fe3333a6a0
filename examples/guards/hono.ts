/**
 * A server with Hono. Its guard stands before every route under `/photos`.
 *
 * LATCHKEY_URL says where Latchkey is.
 */

import { Latchkey } from '@latchkey/client';
import { grantOf, honoGuard } from '@latchkey/client/guards';
import { Hono } from 'hono';

// It only asks about grants, so it has no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

const app = new Hono();

app.use('/photos/*', honoGuard({ latchkey, scope: 'photos.read' }));

app.get('/photos', (context) => {
  const { account } = grantOf(context);
  return context.json({ owner: account.id, photos: ['harbour.jpg'] });
});

export default app;
