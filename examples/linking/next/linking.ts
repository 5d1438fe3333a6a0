/**
 * An application with Next.js (App Router) and a "connect your account" button: what its pages and
 * route handlers share.
 *
 * LATCHKEY_URL is the URL of Latchkey, and LATCHKEY_APPLICATION_SECRET the secret of this application,
 * which is registered with the redirect URI in REDIRECT_URI.
 */

import { Latchkey } from '@latchkey/client';
import { fetchLinking } from '@latchkey/client/linking';
import type { NextRequest } from 'next/server';

/** The cookie with the id of the user. In your application, users sign in. */
export const USER = 'acme';

interface Shared {
  latchkey: Latchkey;
  links: Map<string, { grant_id: string; grant_secret: string }>;
  linking: ReturnType<typeof fetchLinking<NextRequest>>;
}

function create(): Shared {
  const latchkey = new Latchkey();
  // In your application, use a table of your database with a row per user, and encrypt the secrets.
  const links: Shared['links'] = new Map();
  const userOf = ({ cookies }: NextRequest) => cookies.get(USER)?.value ?? '';
  const linking = fetchLinking<NextRequest>({
    latchkey,
    redirectUri: process.env.REDIRECT_URI ?? 'http://127.0.0.1:3000/callback',
    scope: 'profile.read',
    userOf,
    async onLinked({ grant_id, grant_secret }, request) {
      const before = links.get(userOf(request));
      links.set(userOf(request), { grant_id, grant_secret });
      if (before && before.grant_id !== grant_id) await latchkey.revoke(before.grant_id);
    },
    onFailed: ({ name }) => (name === 'LinkDeniedError' ? '/?notice=denied' : '/?notice=failed'),
  });
  return { latchkey, links, linking };
}

declare global {
  var acme: Shared | undefined;
}

// Created for the first request: `next build` loads this file too, without the settings. Each page and
// each route handler may have a copy of this module, so a variable of its own would not be shared.
export const shared = (): Shared => {
  globalThis.acme ??= create();
  return globalThis.acme;
};
