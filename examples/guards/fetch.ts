/**
 * A server that is one function from `Request` to `Response`, as Deno, Bun and workers run it. Any
 * live grant may ask for its profile; the photos take a scope.
 *
 * LATCHKEY_URL says where Latchkey is.
 */

import { Latchkey } from '@latchkey/client';
import { GrantRequiredError, requireGrant } from '@latchkey/client/guards';

// It only asks about grants, so it has no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

async function answer(request: Request): Promise<Response> {
  switch (new URL(request.url).pathname) {
    case '/profile': {
      const { account } = await requireGrant(request, { latchkey });
      return Response.json({ owner: account.id, name: account.display_name });
    }
    case '/photos': {
      const { account } = await requireGrant(request, { latchkey, scope: 'photos.read' });
      return Response.json({ owner: account.id, photos: ['harbour.jpg'] });
    }
    default:
      return new Response('Not found', { status: 404 });
  }
}

export default {
  async fetch(request: Request): Promise<Response> {
    try {
      return await answer(request);
    } catch (error) {
      if (error instanceof GrantRequiredError) return error.toResponse();
      throw error;
    }
  },
};
