import { createHash, randomBytes } from 'node:crypto';
import type { FullGrant } from '@latchkey/schema';
import { explainPage, openLink } from './open-link.ts';

/** What the application asks for, in a test of a host. */
export interface LinkRequestOptions {
  /** Space-separated scope tokens (RFC 6749 section 3.3). Default: `profile.read`. */
  scope?: string;
  /** What the user can allow besides: space-separated scope tokens. Default: nothing. */
  optionalScope?: string;
  /** Whom the application expects, for your sign-in page. Default: nobody. */
  loginHint?: string;
  /** The languages of the user: space-separated tags (BCP 47). Default: none. */
  uiLocales?: string;
}

/** What the application gets at the end: a grant, or the reason why there is none. */
export type LinkOutcome =
  | { grant: FullGrant; error_code: null }
  | { grant: null; error_code: string };

/** What the user fills in on the consent page. */
export interface LinkAnswer {
  /** What the user checks of `optionalScope`: space-separated scope tokens. Default: nothing. */
  optionalScope?: string;
  /** The `id` of what the user chooses, of the `choice` that your host asks for. Default: nothing. */
  choice?: string;
}

/** A link that an application began, for tests of a host. */
export interface TestLink {
  /** The address at your host that the browser comes to: `signInUrl` with the `link` in its query. */
  readonly signInUrl: string;

  /**
   * Goes on from the address that your host redirects the browser to. On the consent page of the
   * service, the user presses a button. At the callback, the application converts the code.
   *
   * @param address - the `Location` of your host's response
   * @param decision - the button. A callback has the decision of your own consent page
   * @param answer - what the user fills in on the consent page of the service
   * @returns the grant, or the `error_code` that the application is told
   * @throws Error if the address leads elsewhere, or if the service shows an error page
   *
   * @example
   * ```ts
   * const link = await server.beginLink();
   * const response = await fetch(link.signInUrl, { redirect: 'manual', headers: { cookie: 'session=1' } });
   * const { grant } = await link.finish(response.headers.get('Location'));
   * ```
   */
  finish(
    address: string | null,
    decision?: 'allow' | 'deny',
    answer?: LinkAnswer,
  ): Promise<LinkOutcome>;
}

interface Application {
  id: string;
  secret: string;
  redirectUri: string;
}

const randomText = () => randomBytes(32).toString('base64url');

/** Begins a link as an application does: with a state and a challenge. */
export async function beginLink(
  service: { baseUrl: string; signInUrl: string },
  application: Application,
  { scope = 'profile.read', optionalScope, loginHint, uiLocales }: LinkRequestOptions,
): Promise<TestLink> {
  const { baseUrl } = service;
  const [state, verifier] = [randomText(), randomText()];
  const request = new URL(`${baseUrl}/oauth/authorize`);
  request.search = `${new URLSearchParams({
    response_type: 'code',
    client_id: application.id,
    redirect_uri: application.redirectUri,
    scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...(optionalScope && { optional_scope: optionalScope }),
    ...(loginHint && { login_hint: loginHint }),
    ...(uiLocales && { ui_locales: uiLocales }),
  })}`;
  const opened = await openLink(request, service);
  if ('callbackUrl' in opened) {
    const code = new URL(opened.callbackUrl).searchParams.get('error_code');
    throw new Error(`The test server refuses the request of the application: ${code}.`);
  }

  const { signInUrl } = opened;
  return {
    signInUrl,
    async finish(address, decision = 'allow', answer = {}) {
      const page = new URL(address ?? '', signInUrl);
      const isConsent = page.origin === baseUrl && page.pathname.startsWith('/link/');
      const callback = isConsent ? await decide(page, decision, answer) : page;
      if (callback.searchParams.get('state') !== state) {
        throw new Error(
          `Your host sends the browser to ${callback.origin}${callback.pathname}, which is neither the consent page of the test server nor the callback of this link. Pass the redirect_to of the last call.`,
        );
      }
      const code = callback.searchParams.get('code');
      if (code === null) return failure(callback.searchParams.get('error_code'));
      const response = await fetch(`${baseUrl}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: application.id,
          client_secret: application.secret,
          redirect_uri: application.redirectUri,
          code_verifier: verifier,
          code,
        }),
      });
      const body = (await response.json()) as { grant: FullGrant; error_code: string };
      return response.ok ? { grant: body.grant, error_code: null } : failure(body.error_code);
    },
  };
}

const failure = (error_code: string | null): LinkOutcome => ({
  grant: null,
  error_code: String(error_code),
});

/** Opens the consent page, fills it in, and presses one of its buttons. */
async function decide(
  address: URL,
  decision: 'allow' | 'deny',
  { optionalScope = '', choice }: LinkAnswer,
): Promise<URL> {
  const opened = await fetch(address, { redirect: 'manual' });
  const location = opened.headers.get('Location');
  if (location === null) throw new Error(explainPage(await opened.text()));
  const page = new URL(location, address);
  const cookie = opened.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const text = await (await fetch(page, { headers: { cookie } })).text();
  const [, form_token] = /name="form_token" value="([\w-]+)"/.exec(text) ?? [];
  if (form_token === undefined) throw new Error(explainPage(text));
  const form = new URLSearchParams({ form_token, decision });
  for (const token of optionalScope.split(' ')) form.append('optional_scope', token);
  if (choice !== undefined) form.append('choice', choice);
  const decided = await fetch(page, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: form,
  });
  const next = decided.headers.get('Location');
  if (next === null) throw new Error(explainPage(await decided.text()));
  const callback = new URL(next, page);
  const isEnd = callback.origin + callback.pathname === `${page.origin}${page.pathname}/done`;
  return isEnd ? startedBy(callback, cookie) : callback;
}

/** An application on this device is started by the page of the link's end. */
async function startedBy(end: URL, cookie: string): Promise<URL> {
  const { headers } = await fetch(end, { headers: { cookie } });
  return new URL((headers.get('Refresh') ?? '').replace(/^0;url=/, ''));
}
