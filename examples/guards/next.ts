/**
 * A route handler of Next.js, for `app/albums/[album]/route.ts`.
 *
 * LATCHKEY_URL is the URL of Latchkey. `next build` loads this file too, so it needs any LATCHKEY_URL.
 * `next start` uses its own.
 */

import { Latchkey } from '@latchkey/client';
import { withGrant } from '@latchkey/client/guards';

// This server only reads grants, so it needs no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

interface Context {
  params: Promise<{ album: string }>;
}

export const GET = withGrant(
  { latchkey, scope: 'photos.read' },
  async (_request: Request, grant, { params }: Context) => {
    const { album } = await params;
    return Response.json({ owner: grant.account.id, album, photos: ['harbour.jpg'] });
  },
);
