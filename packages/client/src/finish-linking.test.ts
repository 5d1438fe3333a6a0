import { inspect } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Recorded, refusal, result } from '../test/fake-service.ts';
import { reason } from '../test/reason.ts';
import { applicationSecret, code, fullGrant } from '../test/samples.ts';
import { useFakeService } from '../test/use-fake-service.ts';
import {
  CodeExpiredError,
  InvalidRequestError,
  IssuerMismatchError,
  Latchkey,
  LatchkeyError,
  LinkDeniedError,
  LinkFailedError,
  StateMismatchError,
} from './index.ts';

const service = useFakeService(result(fullGrant));
const publicUrl = 'https://link.example';
const state = 'A-state-that-nobody-can-guess-0123456789_ab';
const codeVerifier = 'A-verifier-that-nobody-can-guess-01234567_a';
const redirectUri = 'https://acme.example/callback';
const kept = { state, codeVerifier, redirectUri };

let latchkey: Latchkey;
beforeEach(() => {
  service.reply = result(fullGrant);
  latchkey = new Latchkey({ baseUrl: service.url, publicUrl, applicationSecret, maxRetries: 0 });
});

const good = { code, state, iss: publicUrl };
const callback = (parameters: Record<string, string>) =>
  `/callback?${new URLSearchParams(parameters)}`;
const bodyOf = ({ body }: Recorded) => JSON.parse(body);

describe('finishLinking', () => {
  it.each<[string, string | URL]>([
    ['a path and query', callback(good)],
    ['an address', `http://127.0.0.1:8080${callback(good)}`],
    ['a URL', new URL(callback(good), redirectUri)],
  ])('converts the code of %s, bound as it was asked for', async (_, callbackUrl) => {
    const grant = await latchkey.finishLinking(callbackUrl, kept);
    expect(grant).toEqual(fullGrant);
    expect(grant.request_id).toBe('request-1');
    expect(service.requests.map(bodyOf)).toEqual([
      { code, redirect_uri: redirectUri, code_verifier: codeVerifier },
    ]);
  });

  it('takes the address of the service with a slash at the end, or without one', async () => {
    await latchkey.finishLinking(callback({ ...good, iss: `${publicUrl}/` }), kept);
    const slash = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      publicUrl: `${publicUrl}/`,
    });
    await slash.finishLinking(callback(good), kept);
  });

  // Regression: from each of its slashes, it was read to the next other character.
  it('refuses an issuer of many slashes at once', async () => {
    const iss = `${publicUrl}${'/'.repeat(100_000)}x`;
    const before = process.cpuUsage();
    const finished = latchkey.finishLinking(callback({ ...good, iss }), kept);
    await expect(finished).rejects.toThrow(IssuerMismatchError);
    expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
  });

  const otherState = `${state.slice(0, -1)}c`;
  it.each<[string, string]>([
    ['another state', callback({ ...good, state: otherState })],
    ['a part of the state', callback({ ...good, state: state.slice(0, -1) })],
    ['a longer state', callback({ ...good, state: `${state}x` })],
    ['no state', callback({ code, iss: publicUrl })],
    ['two states', `${callback(good)}&state=${state}`],
    ['another state and a denial', callback({ error: 'access_denied', state: otherState })],
    ['nothing', '/callback'],
    ['no address at all', 'http://'],
  ])('refuses a callback with %s, and sends nothing', async (_, callbackUrl) => {
    const error = await reason(latchkey.finishLinking(callbackUrl, kept));
    expect(error).toBeInstanceOf(StateMismatchError);
    expect(service.requests).toEqual([]);
  });

  it('refuses a callback if no state was kept', async () => {
    for (const nothing of ['', undefined as never]) {
      const callbackUrl = callback({ ...good, state: '' });
      const finishing = latchkey.finishLinking(callbackUrl, { ...kept, state: nothing });
      await expect(finishing).rejects.toThrow(StateMismatchError);
    }
  });

  it.each<[string, Record<string, string>]>([
    ['another issuer', { ...good, iss: 'https://link.example.evil' }],
    ['an issuer with another path', { ...good, iss: `${publicUrl}/other` }],
    ['an issuer that is no address', { ...good, iss: 'link.example' }],
    ['no issuer', { code, state }],
    ['a denial of another issuer', { error: 'access_denied', state, iss: 'https://evil.example' }],
  ])('refuses a callback with %s, and sends nothing', async (_, parameters) => {
    const error = await reason(latchkey.finishLinking(callback(parameters), kept));
    expect(error).toBeInstanceOf(IssuerMismatchError);
    expect(error.message).toContain(publicUrl);
    expect(service.requests).toEqual([]);
  });

  const failure = {
    error_description: 'What happened, and what to do.',
    error_uri: 'https://link.example/docs/errors#it',
    request_id: '0193aa00-0000-7000-8000-00000000000f',
    state,
    iss: publicUrl,
  };

  it('tells a denial apart', async () => {
    const denied = { ...failure, error: 'access_denied', error_code: 'link_expired' };
    const error = await reason(latchkey.finishLinking(callback(denied), kept));
    expect(error).toBeInstanceOf(LinkDeniedError);
    expect(error.message).toBe(failure.error_description);
    expect({ ...error }).toEqual({
      error_code: 'link_expired',
      error_uri: failure.error_uri,
      request_id: failure.request_id,
    });
  });

  it('throws what the service says about any other failure', async () => {
    const failed = { ...failure, error: 'invalid_scope', error_code: 'scope_unknown' };
    const error = await reason(latchkey.finishLinking(callback(failed), kept));
    expect(error).toBeInstanceOf(LinkFailedError);
    expect({ ...error }).toMatchObject({ error: 'invalid_scope', error_code: 'scope_unknown' });
  });

  it.each<[string, string]>([
    ['neither a code nor an error', callback({ state, iss: publicUrl })],
    ['two codes', `${callback(good)}&code=${code}`],
    ['a code and an error', callback({ ...good, error: 'server_error' })],
  ])('fails for a callback with %s', async (_, callbackUrl) => {
    const error = await reason(latchkey.finishLinking(callbackUrl, kept));
    expect(error).toBeInstanceOf(LinkFailedError);
    expect(service.requests).toEqual([]);
  });

  it('throws what convert throws', async () => {
    service.reply = refusal('code_expired');
    await expect(latchkey.finishLinking(callback(good), kept)).rejects.toThrow(CodeExpiredError);
    service.reply = refusal('code_verifier_mismatch');
    const error = await reason(latchkey.finishLinking(callback(good), kept));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ error_code: 'code_verifier_mismatch' });
  });

  it('takes the options of convert', async () => {
    const aborted = latchkey.finishLinking(callback(good), {
      ...kept,
      signal: AbortSignal.abort('left'),
    });
    await expect(aborted).rejects.toBe('left');
    expect(service.requests).toEqual([]);
  });
});

describe('no error shows the code, the state or the verifier', () => {
  const secrets = [code, state, codeVerifier];
  const all = secrets.join(' ');
  const everything = {
    error: 'server_error',
    error_description: all,
    error_code: all,
    error_uri: all,
    request_id: all,
    iss: publicUrl,
  };
  const callbacks: Record<string, string> = {
    'a denial that repeats them': callback({ ...everything, ...good, error: 'access_denied' }),
    'a failure that repeats them': callback({ ...everything, ...good }),
    'another issuer': callback({ ...good, iss: `https://${all}.example` }),
    'another state': callback({ ...good, state: `${state} ${all}` }),
    'a code that is refused': callback(good),
    'an address that is none': `http://[${callback(good)}`,
  };

  it.each(Object.entries(callbacks))('%s', async (_, callbackUrl) => {
    service.reply = (response, request) => {
      const { body } = request;
      refusal('code_verifier_mismatch', { error_description: body, request_id: body })(
        response,
        request,
      );
    };
    const error = await reason(latchkey.finishLinking(callbackUrl, kept));
    expect(error).toBeInstanceOf(LatchkeyError);
    const shown = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
    for (const secret of secrets) expect(shown).not.toContain(secret);
  });

  it('and none forges a line of a log', async () => {
    const forged = callback({ ...everything, state, error_description: 'a\nINFO all is well' });
    const error = await reason(latchkey.finishLinking(forged, kept));
    expect(error.message).not.toContain('all is well');
  });
});
