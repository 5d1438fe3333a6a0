/**
 * A route handler of Next.js, as it stands in `app/albums/[album]/route.ts`.
 *
 * LATCHKEY_URL says where Latchkey is. `next build` loads this file too: it needs some LATCHKEY_URL
 * there, and the one that counts is that of `next start`.
 */

import { Latchkey } from '@latchkey/client';
import { withGrant } from '@latchkey/client/guards';

// It only asks about grants, so it has no application secret.
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
