import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { applicationSecret, code, grantId, grantSecret } from '../test/samples.ts';
import { LatchkeyAdmin } from './admin/index.ts';
import {
  type ConvertOptions,
  InvalidRequestError,
  Latchkey,
  LatchkeyConfigError,
  type LatchkeyOptions,
} from './index.ts';

const baseUrl = 'https://latchkey.example';
const refuseToSend = () => Promise.reject(new Error('No request may be sent.'));
const latchkey = new Latchkey({ baseUrl, applicationSecret, maxRetries: 0, fetch: refuseToSend });

describe('the constructor', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /baseUrl is missing.*set the environment variable LATCHKEY_URL/],
    ['an empty string', '', /baseUrl is missing/],
    ['a number', 42, /baseUrl is missing/],
    ['a path', '/latchkey', /absolute URL, such as https:/],
    ['a host without a scheme', 'latchkey.example', /absolute URL/],
    ['another scheme', 'ftp://latchkey.example', /https:\/\/ or http:\/\//],
    ['a host and port that parse as a scheme', 'localhost:3000', /https:\/\/ or http:\/\//],
    ['a user name', 'https://me@latchkey.example', /no user name/],
    ['a password', 'https://me:hunter2@latchkey.example', /no user name/],
    ['a query', 'https://latchkey.example/?a=1', /query or fragment/],
    ['an empty query', 'https://latchkey.example/?', /query or fragment/],
    ['a fragment', 'https://latchkey.example/#a', /query or fragment/],
  ])('rejects %s as baseUrl', (_, value, message) => {
    const options = { baseUrl: value, applicationSecret } as LatchkeyOptions;
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(message);
    expect(() => new Latchkey(options)).not.toThrow(/hunter2/);
  });

  it.each([
    ...[
      'http://latchkey:3000',
      'http://10.0.0.7',
      'http://localhost.example',
      'http://127.0.0.1.nip.io',
    ],
  ])('rejects %s, unless it is told that the network is private', (http) => {
    for (const options of [{ baseUrl: http }, { baseUrl, publicUrl: http }]) {
      const create = (more: LatchkeyOptions = {}) =>
        new Latchkey({ applicationSecret, ...options, ...more });
      expect(create).toThrow(LatchkeyConfigError);
      expect(create).toThrow(/must start with https:.*allowHttp: true.*LATCHKEY_ALLOW_HTTP to 1/);
      expect(create({ allowHttp: true })).toBeInstanceOf(Latchkey);
      vi.stubEnv('LATCHKEY_ALLOW_HTTP', '1');
      expect(create()).toBeInstanceOf(Latchkey);
      expect(() => create({ allowHttp: false })).toThrow(LatchkeyConfigError);
      vi.stubEnv('LATCHKEY_ALLOW_HTTP', 'true');
      expect(create).toThrow(LatchkeyConfigError);
      vi.unstubAllEnvs();
    }
  });

  it.each(['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:3000'])(
    'accepts %s, which is this machine',
    (http) => {
      expect(new Latchkey({ baseUrl: http, applicationSecret })).toBeInstanceOf(Latchkey);
    },
  );

  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /is missing.*set the environment variable LATCHKEY_APPLICATION_SECRET/],
    ['an empty string', '', /is missing/],
    [
      'a grant secret',
      grantSecret,
      /is a grant secret\. An application secret starts with lk_app_/,
    ],
    ['a code', code, /is a code\./],
    ['an id', grantId, /is an id\./],
    ['something else', 'hunter2-hunter2', /is nothing that Latchkey issues/],
    ['a truncated secret', applicationSecret.slice(0, -1), /incomplete or mistyped/],
    ['a secret with a typo', applicationSecret.replace(/.$/, '!'), /incomplete or mistyped/],
    ['a secret with a line break', `${applicationSecret}\n`, /incomplete or mistyped/],
    ['a secret behind a space', ` ${applicationSecret}`, /without spaces or quotes/],
    ['a secret in quotes', `"${applicationSecret}"`, /without spaces or quotes/],
  ])('rejects %s as applicationSecret', (_, value, message) => {
    const options = { baseUrl, applicationSecret: value } as LatchkeyOptions;
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(message);
    if (value) expect(() => new Latchkey(options)).not.toThrow(String(value));
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])(
    'rejects %d as timeoutMs, for the client and for a call',
    async (timeoutMs) => {
      expect(() => new Latchkey({ baseUrl, applicationSecret, timeoutMs })).toThrow(
        LatchkeyConfigError,
      );
      await expect(latchkey.account(grantSecret, { timeoutMs })).rejects.toThrow(
        LatchkeyConfigError,
      );
    },
  );

  it.each([0.5, 2 ** 31 - 1])('accepts %d as timeoutMs', (timeoutMs) => {
    expect(new Latchkey({ baseUrl, applicationSecret, timeoutMs })).toBeInstanceOf(Latchkey);
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '2'])(
    'rejects %j as maxRetries',
    (maxRetries) => {
      const options = { baseUrl, applicationSecret, maxRetries } as LatchkeyOptions;
      expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
      expect(() => new Latchkey(options)).toThrow(/maxRetries must be an integer/);
      const { maxRetries: ofCall } = options;
      const call = latchkey.account(grantSecret, { maxRetries: ofCall });
      return expect(call).rejects.toThrow(/maxRetries must be an integer/);
    },
  );

  it.each(['', 'acme\r\nx: y', 'łatch', 7])('rejects %j as userAgent', (userAgent) => {
    const options = { baseUrl, applicationSecret, userAgent } as LatchkeyOptions;
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(/userAgent must be printable ASCII/);
  });
});

describe('an option that does not exist', () => {
  it.each<[object, RegExp]>([
    [{ timeout: 5 }, /new Latchkey has no option timeout\. Did you mean timeoutMs\?/],
    [{ retries: 5 }, /no option retries\. Did you mean maxRetries\?/],
    [{ maxRetrys: 5 }, /Did you mean maxRetries\?/],
    [{ baseURL: '/' }, /Did you mean baseUrl\?/],
    [{ secret: '' }, /Did you mean applicationSecret\?/],
    [{ log: console }, /Did you mean logger\?/],
    [{ fetcher: () => {} }, /Did you mean fetch\?/],
    [
      { region: undefined },
      /no option region\. Its options are baseUrl, applicationSecret, publicUrl/,
    ],
  ])('is refused by the constructor: %o', (more, message) => {
    const options = { baseUrl, applicationSecret, ...more };
    expect(() => new Latchkey(options)).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey(options)).toThrow(message);
  });

  it.each(['convert', 'revoke', 'recover', 'account', 'grant'] as const)(
    'is refused by %s, before anything is sent',
    async (method) => {
      const call: Promise<unknown> = latchkey[method]('x', { retries: 5 } as object);
      await expect(call).rejects.toThrow(LatchkeyConfigError);
      await expect(call).rejects.toThrow(
        `${method} has no option retries. Did you mean maxRetries?`,
      );
    },
  );

  it('includes an option of another method', async () => {
    const options: ConvertOptions = { recoverLostAnswer: true };
    await expect(latchkey.revoke(grantId, options)).rejects.toThrow(
      'revoke has no option recoverLostAnswer. Its options are signal, timeoutMs, maxRetries.',
    );
  });

  it.each([null, 5, 'text'])('includes options that are no object: %j', async (options) => {
    const call = latchkey.account(grantSecret, options as never);
    await expect(call).rejects.toThrow(LatchkeyConfigError);
    await expect(call).rejects.toThrow('The options of account must be an object');
    expect(() => new Latchkey(options as never)).toThrow('The options of new Latchkey must be an');
  });

  it('may be a method, as a test server has beside the options', () => {
    const server = { baseUrl, applicationSecret, issueCode() {}, advance() {}, close() {} };
    expect(new Latchkey(server)).toBeInstanceOf(Latchkey);
  });

  it('is named without a credential in its name', () => {
    expect(() => new Latchkey({ baseUrl, [applicationSecret]: 1 })).toThrow(
      'no option [redacted].',
    );
  });
});

/** The URL and headers that a client with these options sends. */
async function requestOf(options: LatchkeyOptions) {
  let request: { url: string; headers: Record<string, string> } | undefined;
  const fetch: LatchkeyOptions['fetch'] = (url, { headers }) => {
    request = { url, headers };
    return Promise.reject(new Error('No request may be sent.'));
  };
  await new Latchkey({ ...options, fetch }).convert(code).catch(() => {});
  return request;
}

it('puts the program’s name before its own in the User-Agent header', async () => {
  const request = await requestOf({ baseUrl, applicationSecret, userAgent: 'acme/1.2 (blue)' });
  expect(request?.headers['user-agent']).toBe('acme/1.2 (blue) latchkey-client/source');
});

describe('the environment', () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
  });

  it('has the URL and the secret, unless options give them', async () => {
    vi.stubEnv('LATCHKEY_URL', 'https://of-the-environment.example/');
    vi.stubEnv('LATCHKEY_APPLICATION_SECRET', applicationSecret);
    const request = await requestOf({ baseUrl: undefined, applicationSecret: undefined });
    expect(request?.url).toBe('https://of-the-environment.example/trpc/grants.convert');
    expect(request?.headers.authorization).toBe(`Bearer ${applicationSecret}`);
    expect((await requestOf({ baseUrl }))?.url).toBe(`${baseUrl}/trpc/grants.convert`);
  });

  it('is checked like an option, and an empty variable counts as unset', () => {
    vi.stubEnv('LATCHKEY_URL', '');
    vi.stubEnv('LATCHKEY_APPLICATION_SECRET', grantSecret);
    expect(() => new Latchkey()).toThrow(/baseUrl is missing/);
    expect(() => new Latchkey({ baseUrl })).toThrow(/is a grant secret/);
    // An empty option is an error of the program. The environment must not hide it.
    expect(() => new Latchkey({ baseUrl, applicationSecret: '' })).toThrow(/is missing/);
  });

  it('may be absent', () => {
    vi.stubGlobal('process', undefined);
    expect(() => new Latchkey()).toThrow(/baseUrl is missing/);
    expect(new Latchkey({ baseUrl, applicationSecret })).toBeInstanceOf(Latchkey);
  });
});

describe('a browser', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is refused before any other check, unless the option allows it', () => {
    vi.stubGlobal('window', { document: {} });
    expect(() => new Latchkey({ baseUrl, applicationSecret })).toThrow(LatchkeyConfigError);
    expect(() => new Latchkey()).toThrow(/from your server.*dangerouslyAllowBrowser/);
    const options = { baseUrl, applicationSecret, dangerouslyAllowBrowser: true };
    expect(new Latchkey(options)).toBeInstanceOf(Latchkey);
  });

  it('is not assumed if there is only a window, as on some servers', () => {
    vi.stubGlobal('window', globalThis);
    expect(new Latchkey({ baseUrl, applicationSecret })).toBeInstanceOf(Latchkey);
  });
});

describe('an argument of the wrong kind', () => {
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
    // fetch would reject these too, but quote them.
    ['a line break', () => latchkey.grant(`${grantSecret}\n`), 'grant_secret', /without spaces/],
    [
      'a letter that no header can contain',
      () => latchkey.grant('lk_grant_ł'),
      'grant_secret',
      /without spaces/,
    ],
  ])('is rejected before anything is sent: %s', async (_, call, parameter, message) => {
    const error = await call().catch((reason: unknown) => reason as InvalidRequestError);
    if (!(error instanceof InvalidRequestError)) return expect.fail('The call must be rejected.');
    expect(error.message).toMatch(message);
    expect(error.message).not.toMatch(/lk_(app|code|grant)_\w/);
    expect(error.issues).toEqual([{ path: [parameter], message: expect.any(String) }]);
    expect(error).not.toHaveProperty('status');
  });

  it('leaves formats that it does not know to the service', async () => {
    await expect(latchkey.convert('lk_code2_future')).rejects.toHaveProperty('maybe_sent');
    await expect(latchkey.account('lk_grant2_future')).rejects.toHaveProperty('maybe_sent');
    await expect(latchkey.revoke('GRANT-1')).rejects.toHaveProperty('maybe_sent');
  });
});

describe('an environment that may not be read, as in the sandbox of Deno', () => {
  const env = new Proxy(
    {},
    {
      get(_, name) {
        throw new Error(`Requires env access to "${String(name)}"`);
      },
    },
  );
  beforeEach(() => {
    vi.stubGlobal('process', { env });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  it('is not asked for what was given', async () => {
    const options = { baseUrl, publicUrl: 'https://link.example', applicationSecret };
    const { url } = await new Latchkey(options).authorizationUrl({
      redirectUri: 'https://acme.example/callback',
      scope: 'profile.read',
    });
    expect(url).toMatch(/^https:\/\/link\.example\//);
    expect(new LatchkeyAdmin({ baseUrl, adminSecret: 'x'.repeat(32) })).toBeDefined();
  });

  it('is not asked where browsers reach the service, until that is needed', async () => {
    const client = new Latchkey({ baseUrl, applicationSecret });
    const link = client.authorizationUrl({ redirectUri: baseUrl, scope: 'profile.read' });
    await expect(link).rejects.toThrow('LATCHKEY_PUBLIC_URL');
  });

  it('is asked for what was not given', () => {
    expect(() => new Latchkey({ applicationSecret })).toThrow('LATCHKEY_URL');
  });
});

it('says at once that the public URL of the environment is wrong', () => {
  vi.stubEnv('LATCHKEY_URL', baseUrl);
  vi.stubEnv('LATCHKEY_PUBLIC_URL', 'link.example');
  expect(() => new Latchkey({ applicationSecret })).toThrow('publicUrl must be');
});

describe('a client without an application secret', () => {
  it('checks grants, even if the environment has a secret', async () => {
    vi.stubEnv('LATCHKEY_APPLICATION_SECRET', applicationSecret);
    const sent: string[] = [];
    const client = new Latchkey({
      baseUrl,
      applicationSecret: null,
      maxRetries: 0,
      fetch: (_url, { headers }) => {
        sent.push(headers.authorization ?? '');
        return refuseToSend();
      },
    });
    await client.grant(grantSecret).catch(() => {});
    await client.account(grantSecret).catch(() => {});
    expect(sent).toEqual([`Bearer ${grantSecret}`, `Bearer ${grantSecret}`]);
  });

  it.each(['convert', 'revoke', 'recover'] as const)('does not %s', async (name) => {
    const client = new Latchkey({ baseUrl, applicationSecret: null, fetch: refuseToSend });
    const call: Promise<unknown> = client[name](name === 'convert' ? code : grantId);
    await expect(call).rejects.toThrow(LatchkeyConfigError);
    await expect(call).rejects.toThrow(/applicationSecret is null.*Pass the secret/);
  });
});
