/**
 * A consent page of the host, instead of Latchkey's: `addConsent` goes where `host.ts` has the hand-off.
 * docs/guides/hosts.md says what the page has to show.
 */

import type { LatchkeyAdmin } from '@latchkey/client/admin';
import { expressHost } from '@latchkey/client/host';
import { type Express, type Request, type Response, urlencoded } from 'express';

type Asked = Awaited<ReturnType<LatchkeyAdmin['links']['read']>>;
/** Shows a form that posts `link`, `account_id` and `decision`, and escapes every text. */
type Ask = (response: Response, asked: Asked, link: string) => void;

export function addConsent(app: Express, admin: LatchkeyAdmin, url: string, ask: Ask) {
  const { handOff, decide } = expressHost<Request>({
    admin,
    signInUrl: `${url}/link`,
    accountOf: ({ session }) => session.account,
    signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
    consentPage: (link) => `/consent?link=${encodeURIComponent(link)}`,
  });
  app.get('/link', handOff);
  app.get('/consent', async (request, response) => {
    const link = String(request.query.link);
    const asked = await admin.links.read({ link });
    // Another user, or another tab: the hand-off finds out.
    if (asked.account_id !== request.session.account?.account_id.toLowerCase()) {
      return response.redirect(303, `/link?link=${encodeURIComponent(link)}`);
    }
    response.set({ 'X-Frame-Options': 'DENY', 'Cache-Control': 'no-store' });
    ask(response, asked, link);
  });
  app.post('/consent', urlencoded(), decide);
}
