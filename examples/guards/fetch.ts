/**
 * A server as one function from `Request` to `Response`, for Deno, Bun and workers. Any live grant may
 * read its profile. The photos require a scope.
 *
 * LATCHKEY_URL is the URL of Latchkey.
 */

import { Latchkey } from '@latchkey/client';
import { GrantRequiredError, requireGrant } from '@latchkey/client/guards';

// This server only reads grants, so it needs no application secret.
const latchkey = new Latchkey({ applicationSecret: null });

async function handle(request: Request): Promise<Response> {
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
      return await handle(request);
    } catch (error) {
      if (error instanceof GrantRequiredError) return error.toResponse();
      throw error;
    }
  },
};
