import { afterEach, describe, expect, it, vi } from 'vitest';
import { applicationSecret, code, grantId, grantSecret } from '../test/samples.ts';
import {
  InvalidRequestError,
  Latchkey,
  LatchkeyConfigError,
  type LatchkeyOptions,
} from './index.ts';

const baseUrl = 'https://latchkey.example';
const refuseToSend = () => Promise.reject(new Error('This must not be sent.'));
const latchkey = new Latchkey({ baseUrl, applicationSecret, maxRetries: 0, fetch: refuseToSend });

describe('the constructor', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /baseUrl is missing.*set the environment variable LATCHKEY_URL/],
    ['an empty text', '', /baseUrl is missing/],
    ['what is no text', 42, /baseUrl is missing/],
    ['a path', '/latchkey', /absolute URL, such as https:/],
    ['a host without a scheme', 'latchkey.example', /absolute URL/],
    ['another scheme', 'ftp://latchkey.example', /https:\/\/ or http:\/\//],
    ['a host and port that read as a scheme', 'localhost:3000', /https:\/\/ or http:\/\//],
    ['a user name', 'https://me@latchkey.example', /no user name/],
    ['a password', 'https://me:hunter2@latchkey.example', /no user name/],
    ['a query', 'https://latchkey.example/?a=1', /query or fragment/],
    ['an empty query', 'https://latchkey.example/?', /query or fragment/],
    ['a fragment', 'https://latchkey.example/#a', /query or fragment/],
  ])('refuses %s as baseUrl', (_, value, message) => {
    const options = { baseUrl: value, applicationSecret } as LatchkeyOptions;
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(message);
    expect(() => new Latchkey(options)).not.toThrow(/hunter2/);
  });

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /is missing.*set the environment variable LATCHKEY_APPLICATION_SECRET/],
    ['an empty text', '', /is missing/],
    [
      'a grant secret',
      grantSecret,
      /is a grant secret\. An application secret starts with lk_app_/,
    ],
    ['a code', code, /is a code\./],
    ['an id', grantId, /is an id\./],
    ['something else', 'hunter2-hunter2', /is of no kind/],
    ['one that was cut short', applicationSecret.slice(0, -1), /incomplete or mistyped/],
    ['one with a typo', applicationSecret.replace(/.$/, '!'), /incomplete or mistyped/],
    ['one with a line break', `${applicationSecret}\n`, /incomplete or mistyped/],
  ])('refuses %s as applicationSecret', (_, value, message) => {
    const options = { baseUrl, applicationSecret: value } as LatchkeyOptions;
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(message);
    if (value) expect(() => new Latchkey(options)).not.toThrow(String(value));
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'refuses %d as timeoutMs, for itself and for a call',
    async (timeoutMs) => {
      expect(() => new Latchkey({ baseUrl, applicationSecret, timeoutMs })).toThrow(
        LatchkeyConfigError,
      );
      await expect(latchkey.account(grantSecret, { timeoutMs })).rejects.toThrow(
        LatchkeyConfigError,
      );
    },
  );

  it.each([0.5, 2 ** 31 - 1])('takes %d as timeoutMs', (timeoutMs) => {
    expect(new Latchkey({ baseUrl, applicationSecret, timeoutMs })).toBeInstanceOf(Latchkey);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2'])(
    'refuses %j as maxRetries',
    (maxRetries) => {
      const options = { baseUrl, applicationSecret, maxRetries } as LatchkeyOptions;
      expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
      expect(() => new Latchkey(options)).toThrow(/maxRetries must be a whole number/);
    },
  );

  it.each(['', 'acme\r\nx: y', 'łatch', 7])('refuses %j as userAgent', (userAgent) => {
    const options = { baseUrl, applicationSecret, userAgent } as LatchkeyOptions;
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(/userAgent must be printable ASCII/);
  });
});

/** The URL and the headers of a call of a client with these options. */
async function requestOf(options: LatchkeyOptions) {
  let request: { url: string; headers: Record<string, string> } | undefined;
  const fetch: LatchkeyOptions['fetch'] = (url, { headers }) => {
    request = { url, headers };
    return Promise.reject(new Error('This must not be sent.'));
  };
  await new Latchkey({ ...options, fetch }).convert(code).catch(() => {});
  return request;
}

it('names the program before itself to the service', async () => {
  const request = await requestOf({ baseUrl, applicationSecret, userAgent: 'acme/1.2 (blue)' });
  expect(request?.headers['user-agent']).toBe('acme/1.2 (blue) latchkey-client/source');
});

describe('the environment', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
  });

  it('has the address and the secret, unless they are given', async () => {
    vi.stubEnv('LATCHKEY_URL', 'https://of-the-environment.example/');
    vi.stubEnv('LATCHKEY_APPLICATION_SECRET', applicationSecret);
    const request = await requestOf({ baseUrl: undefined, applicationSecret: undefined });
    expect(request?.url).toBe('https://of-the-environment.example/trpc/grants.convert');
    expect(request?.headers.authorization).toBe(`Bearer ${applicationSecret}`);
    expect((await requestOf({ baseUrl }))?.url).toBe(`${baseUrl}/trpc/grants.convert`);
  });

  it('is checked like an option, and an empty variable is none', () => {
    vi.stubEnv('LATCHKEY_URL', '');
    vi.stubEnv('LATCHKEY_APPLICATION_SECRET', grantSecret);
    expect(() => new Latchkey()).toThrow(/baseUrl is missing/);
    expect(() => new Latchkey({ baseUrl })).toThrow(/is a grant secret/);
    // An option that is there, but empty, is a fault of the program: the environment does not hide it.
    expect(() => new Latchkey({ baseUrl, applicationSecret: '' })).toThrow(/is missing/);
  });

  it('need not be there', () => {
    vi.stubGlobal('process', undefined);
    expect(() => new Latchkey()).toThrow(/baseUrl is missing/);
    expect(new Latchkey({ baseUrl, applicationSecret })).toBeInstanceOf(Latchkey);
  });
});

describe('a browser', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is refused, before anything is looked at, unless the call says otherwise', () => {
    vi.stubGlobal('window', { document: {} });
    expect(() => new Latchkey({ baseUrl, applicationSecret })).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey()).toThrow(/from your server.*dangerouslyAllowBrowser/);
    const options = { baseUrl, applicationSecret, dangerouslyAllowBrowser: true };
    expect(new Latchkey(options)).toBeInstanceOf(Latchkey);
  });

  it('is not what merely has a window, as some servers do', () => {
    vi.stubGlobal('window', globalThis);
    expect(new Latchkey({ baseUrl, applicationSecret })).toBeInstanceOf(Latchkey);
  });
});

describe('an argument that is certainly a mix-up', () => {
  it.each<[string, () => Promise<unknown>, string, RegExp]>([
    ['convert: nothing', () => latchkey.convert(undefined as never), 'code', /lk_code_…, a string/],
    ['convert: an empty code', () => latchkey.convert(''), 'code', /lk_code_…, a string/],
    ['convert: a grant secret', () => latchkey.convert(grantSecret), 'code', /is a grant secret/],
    [
      'convert: its secret',
      () => latchkey.convert(applicationSecret),
      'code',
      /application secret/,
    ],
    ['revoke: nothing', () => latchkey.revoke(undefined as never), 'grant_id', /a UUID, a string/],
    ['revoke: a grant secret', () => latchkey.revoke(grantSecret), 'grant_id', /is a grant secret/],
    ['revoke: a code', () => latchkey.revoke(code), 'grant_id', /is a code/],
    ['account: nothing', () => latchkey.account(null as never), 'grant_secret', /a string/],
    ['account: a code', () => latchkey.account(code), 'grant_secret', /is a code/],
    ['account: an id', () => latchkey.account(grantId), 'grant_secret', /is an id/],
    [
      'account: the application secret',
      () => latchkey.account(applicationSecret),
      'grant_secret',
      /is an application secret/,
    ],
    ['grant: a code', () => latchkey.grant(code), 'grant_secret', /is a code/],
    // fetch would refuse these itself, and quote them.
    ['a line break', () => latchkey.grant(`${grantSecret}\n`), 'grant_secret', /without spaces/],
    ['a letter of no header', () => latchkey.grant('lk_grant_ł'), 'grant_secret', /without spaces/],
  ])('is refused before anything is sent: %s', async (_, call, parameter, message) => {
    const error = await call().catch((reason: unknown) => reason as InvalidRequestError);
    if (!(error instanceof InvalidRequestError)) return expect.fail('It must be refused.');
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/lk_(app|code|grant)_\w/);
    expect(error.issues).toEqual([{ path: [parameter], message: expect.any(String) }]);
    expect(error).not.toHaveProperty('status');
  });

  it('leaves formats that it does not know to the service', async () => {
    await expect(latchkey.convert('lk_code2_future')).rejects.toHaveProperty('maybeSent');
    await expect(latchkey.account('lk_grant2_future')).rejects.toHaveProperty('maybeSent');
    await expect(latchkey.revoke('GRANT-1')).rejects.toHaveProperty('maybeSent');
  });
});

describe('a client without an application secret', () => {
  it('asks about grants, whatever the environment has', async () => {
    vi.stubEnv('LATCHKEY_APPLICATION_SECRET', applicationSecret);
    const sent: string[] = [];
    const asking = new Latchkey({
      baseUrl,
      applicationSecret: null,
      maxRetries: 0,
      fetch: (_url, { headers }) => {
        sent.push(headers.authorization ?? '');
        return refuseToSend();
      },
    });
    await asking.grant(grantSecret).catch(() => {});
    await asking.account(grantSecret).catch(() => {});
    expect(sent).toEqual([`Bearer ${grantSecret}`, `Bearer ${grantSecret}`]);
  });

  it.each(['convert', 'revoke', 'recover'] as const)('does not %s', async (name) => {
    const asking = new Latchkey({ baseUrl, applicationSecret: null, fetch: refuseToSend });
    const call: Promise<unknown> = asking[name](name === 'convert' ? code : grantId);
    await expect(call).rejects.toThrow(LatchkeyConfigError);
    await expect(call).rejects.toThrow(/applicationSecret is null.*Pass its secret/);
  });
});
