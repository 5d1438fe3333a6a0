import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { applicationSecret, grantId } from '../test/samples.ts';
import {
  type AuthorizationUrlOptions,
  InvalidRequestError,
  Latchkey,
  LatchkeyConfigError,
} from './index.ts';

const baseUrl = 'http://latchkey.internal:3000';
const publicUrl = 'https://example.com/link/';
const latchkey = new Latchkey({
  baseUrl,
  allowHttp: true,
  publicUrl,
  applicationSecret,
  fetch: () => Promise.reject(new Error('No request may be sent.')),
});
const asked = {
  redirectUri: 'https://acme.example/callback?a=1',
  scope: 'profile.read posts.write',
};

/** The parameters of the authorization request. */
const parameters = (url: string) => Object.fromEntries(new URL(url).searchParams);

describe('authorizationUrl', () => {
  it('asks the public address for a code with a challenge', async () => {
    const { url, state, codeVerifier } = await latchkey.authorizationUrl(asked);
    expect(url).toMatch(/^https:\/\/example\.com\/link\/oauth\/authorize\?/);
    expect(parameters(url)).toEqual({
      response_type: 'code',
      // The id in the application secret of the samples.
      client_id: grantId,
      redirect_uri: asked.redirectUri,
      scope: asked.scope,
      state,
      code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
  });

  it('makes a new state and verifier each time, of 256 random bits', async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, () => latchkey.authorizationUrl(asked)),
    );
    const texts = made.flatMap(({ state, codeVerifier }) => [state, codeVerifier]);
    expect(new Set(texts).size).toBe(100);
    for (const text of texts) expect(text).toMatch(/^[\w-]{43}$/);
    for (const { url, codeVerifier } of made) expect(url).not.toContain(codeVerifier);
  });

  it('passes on a state, what is optional, and what is known about the user', async () => {
    const more = {
      ...{ state: 'my state', loginHint: 'ada@example.com', uiLocales: 'de-AT de' },
      optionalScope: 'posts.delete files.read',
    };
    const { url, state } = await latchkey.authorizationUrl({ ...asked, ...more });
    expect(state).toBe('my state');
    expect(parameters(url)).toMatchObject({
      state: 'my state',
      optional_scope: 'posts.delete files.read',
      login_hint: 'ada@example.com',
      ui_locales: 'de-AT de',
    });
  });

  it.each<[string, object, typeof InvalidRequestError | typeof LatchkeyConfigError]>([
    ['no scope', { scope: undefined }, InvalidRequestError],
    ['an empty scope', { scope: '' }, InvalidRequestError],
    ['no redirect URI', { redirectUri: undefined }, InvalidRequestError],
    ['a path as redirect URI', { redirectUri: '/callback' }, InvalidRequestError],
    ['a mistyped option', { redirectURL: '' }, LatchkeyConfigError],
  ])('refuses %s', async (_, wrong, errorClass) => {
    const options = { ...asked, ...wrong } as AuthorizationUrlOptions;
    await expect(latchkey.authorizationUrl(options)).rejects.toThrow(errorClass);
  });

  it('needs an application secret', async () => {
    const asking = new Latchkey({ baseUrl, allowHttp: true, applicationSecret: null });
    await expect(asking.authorizationUrl(asked)).rejects.toThrow(LatchkeyConfigError);
  });
});
