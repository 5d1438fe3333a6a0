import { checkRedirectUri, checkScope } from './arguments.ts';
import { base64url } from './base64url.ts';
import type { AuthorizationUrlOptions } from './options.ts';

/** An authorization request: the address for the browser, and values to keep until it returns. */
export interface Authorization {
  /** Send the browser here, with a redirect. */
  url: string;
  /** Keep it in this browser's session or cookie. It comes back in the callback. */
  state: string;
  /** Keep it with `state`, and show it to nobody. It proves that the code is yours (RFC 7636). */
  codeVerifier: string;
}

/** Makes the address of an authorization request, with a challenge (RFC 6749, 4.1.1; RFC 7636). */
export async function authorizationUrl(
  publicUrl: URL,
  applicationId: string,
  {
    redirectUri,
    scope,
    optionalScope,
    state = randomText(),
    loginHint,
    uiLocales,
  }: AuthorizationUrlOptions,
): Promise<Authorization> {
  const codeVerifier = randomText();
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier));
  const url = new URL('oauth/authorize', publicUrl);
  const parameters = {
    response_type: 'code',
    client_id: applicationId,
    redirect_uri: checkRedirectUri(redirectUri),
    scope: checkScope(scope),
    optional_scope: optionalScope,
    state,
    code_challenge: base64url(new Uint8Array(digest)),
    code_challenge_method: 'S256',
    login_hint: loginHint,
    ui_locales: uiLocales,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) url.searchParams.set(name, value);
  }
  return { url: url.href, state, codeVerifier };
}

/** 256 random bits in 43 characters. */
const randomText = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
