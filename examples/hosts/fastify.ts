/**
 * The routes of a host with Fastify, which has to be told how to read a form. docs/guides/hosts.md explains
 * them.
 */

import type { AccountInput, LatchkeyAdmin } from '@latchkey/client/admin';
import { fastifyHost } from '@latchkey/client/host';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

interface FastifySessions {
  accountOf(request: FastifyRequest): AccountInput | null;
  end(reply: FastifyReply): void;
}

export function addToFastify(
  app: FastifyInstance,
  admin: LatchkeyAdmin,
  url: string,
  sessions: FastifySessions,
) {
  const { handOff, decide, connections, signOut } = fastifyHost<FastifyRequest>({
    admin,
    signInUrl: `${url}/link`,
    accountOf: sessions.accountOf,
    signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
  });
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_request: FastifyRequest, body: string | Buffer) =>
      Object.fromEntries(new URLSearchParams(String(body))),
  );
  app.get('/link', handOff);
  app.post('/give-up', decide);
  app.post('/connected-applications', connections);
  app.post('/sign-out', { preHandler: signOut }, async (_request, reply) => {
    sessions.end(reply);
    return reply.redirect('/', 303);
  });
}
