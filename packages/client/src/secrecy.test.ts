import { inspect } from 'node:util';
import { errorCodes } from '@latchkey/schema';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorBody, failure, type Reply, result } from '../test/fake-service.ts';
import { reason } from '../test/reason.ts';
import { applicationSecret, code, grantId, grantSecret } from '../test/samples.ts';
import { useFakeService } from '../test/use-fake-service.ts';
import { Latchkey, LatchkeyError, type LatchkeyOptions } from './index.ts';

const secrets = [applicationSecret, code, grantSecret];

/** Every text that a value can turn into in a log. */
function show(value: unknown): string {
  const texts: string[] = [];
  for (let error = value; error instanceof Error; error = error.cause) {
    texts.push(String(error), String(error.stack), JSON.stringify(error));
  }
  const everything = { depth: Number.POSITIVE_INFINITY, showHidden: true, getters: true };
  texts.push(inspect(value), inspect(value, everything), JSON.stringify({ value }), String(value));
  return texts.join('\n');
}

function expectNoSecret(value: unknown): void {
  const text = show(value);
  for (const secret of secrets) {
    // A large part of a secret is as bad as the whole.
    expect(text).not.toContain(secret.slice(0, 40));
    expect(text).not.toContain(secret.slice(-40));
  }
}

const service = useFakeService();
let latchkey: Latchkey;

beforeAll(() => {
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 0, logger });
});

/** Every log line of all tests in this file. */
const logged: unknown[] = [];
const logger = {
  debug: (...line: unknown[]) => void logged.push(line),
  warn: (...line: unknown[]) => void logged.push(line),
};

/** The errors of every kind of call. */
async function rejections(client: Latchkey, timeoutMs = 10_000): Promise<unknown[]> {
  const settled = await Promise.allSettled([
    client.convert(code, { timeoutMs }),
    client.convert(code, { timeoutMs, recoverLostAnswer: true }),
    client.revoke(grantId, { timeoutMs }),
    client.recover(grantId, { timeoutMs }),
    client.account(grantSecret, { timeoutMs }),
    client.grant(grantSecret, { timeoutMs }),
    client.revokeToken(grantSecret, { timeoutMs }),
    client.introspect(grantSecret, { timeoutMs }),
  ]);
  return settled.map((outcome) =>
    outcome.status === 'rejected' ? outcome.reason : expect.fail('The call must reject.'),
  );
}

it('the check finds a secret', () => {
  const cause = Object.assign(new Error('Inner.'), { config: { headers: [grantSecret] } });
  expect(() => expectNoSecret(new Error('Outer.', { cause }))).toThrow(/lk_grant_/);
});

describe('a client', () => {
  it('shows no secret', () => {
    expectNoSecret(latchkey);
    expect(inspect(latchkey)).toBe('Latchkey {}');
    expect(JSON.stringify(latchkey)).toBe('{}');
    expect(structuredClone(latchkey)).toEqual({});
  });
});

// A service or proxy that repeats everything it received, wherever it can.
const echo = (request: { headers: object; body: string }) =>
  `${JSON.stringify(request.headers)} ${request.body} ${secrets.join(' ')}`;
const ascii = { 'x-request-id': secrets.join('.'), 'content-type': `${grantSecret}/${code}` };

describe('no error shows a secret', () => {
  it.each(errorCodes)(
    '%s, from a service that repeats everything it received',
    async (error_code) => {
      service.reply = (response, request) => {
        const text = echo(request);
        const body = errorBody(error_code, {
          error_description: text,
          error_uri: `https://latchkey.example/?${text}`,
          request_id: text,
          grant_id: text,
          issues: [{ path: [text], message: text, received: text }],
          more: text,
        });
        failure(400, body, ascii)(response, request);
      };
      for (const error of await rejections(latchkey)) {
        expect(error).toMatchObject({ error_code });
        expectNoSecret(error);
      }
    },
  );

  it.each<[string, Reply]>([
    [
      'an error_code',
      (response, request) => {
        failure(400, { error_code: echo(request), error_description: 'So.' })(response, request);
      },
    ],
    [
      'a page',
      (response, request) => {
        response.writeHead(502, ascii).end(`<html>${echo(request)}</html>`);
      },
    ],
    [
      'cut JSON',
      (response, request) => {
        // JSON.parse quotes what it can't parse.
        response.writeHead(200, ascii).end(`${grantSecret} ${echo(request)}`);
      },
    ],
    [
      'a result of another kind',
      (response, request) => result({ object: 'another', text: echo(request) })(response, request),
    ],
    [
      'another error',
      (response, request) => {
        const error = { message: echo(request), code: -32600, data: { text: echo(request) } };
        response.writeHead(400, ascii).end(JSON.stringify({ error }));
      },
    ],
    [
      'a redirect',
      (response, request) => {
        response.writeHead(307, { location: `/${encodeURIComponent(echo(request))}` }).end();
      },
    ],
    ['a reset', (response) => void response.destroy()],
  ])('%s', async (_, reply) => {
    service.reply = reply;
    for (const error of await rejections(latchkey)) {
      expect(error).toBeInstanceOf(LatchkeyError);
      expectNoSecret(error);
    }
  });

  it('a timeout', async () => {
    service.reply = () => {};
    for (const error of await rejections(latchkey, 50)) expectNoSecret(error);
  });

  it('an abort', async () => {
    const controller = new AbortController();
    service.reply = () => controller.abort();
    const { signal } = controller;
    expectNoSecret(await reason(latchkey.convert(code, { signal })));
  });

  it('an error of a fetch that repeats the request in every member', async () => {
    const client = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      maxRetries: 0,
      logger,
      fetch: async (url, init) => {
        const text = `${url} ${JSON.stringify(init)}`;
        const innermost = Object.assign(new Error(text), { request: init, code: text });
        const inner = Object.assign(new AggregateError([innermost], text), { config: init });
        const outer = Object.assign(new TypeError(text, { cause: inner }), {
          name: text,
          code: text,
          syscall: text,
          address: text,
          hostname: text,
          config: init,
          toJSON: () => init,
          [inspect.custom]: () => init,
        });
        outer.stack = `${text}\n    at ${text}`;
        throw outer;
      },
    });
    for (const error of await rejections(client)) {
      expectNoSecret(error);
      expect((error as Error).cause).toMatchObject({
        message: expect.stringContaining('[redacted]'),
      });
    }
  });

  it.each([
    ['a string', (text: string) => text],
    ['an object', (text: string) => ({ message: text, text })],
    [
      'an error with itself as its cause',
      (text: string) => {
        const error = new Error(text);
        error.cause = error;
        return error;
      },
    ],
  ])('%s that a fetch throws', async (_, thrown) => {
    const client = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      maxRetries: 0,
      logger,
      fetch: (_url, init) => Promise.reject(thrown(JSON.stringify(init))),
    });
    for (const error of await rejections(client)) expectNoSecret(error);
  });

  it('the rejection of a secret that no header can contain, which fetch would quote', async () => {
    expectNoSecret(await reason(latchkey.account(`${grantSecret}\u0000`)));
  });

  it('an error about a truncated secret, which does not look like one', async () => {
    const cut = grantSecret.slice(0, -3);
    service.reply = (response, request) => {
      const body = errorBody('credentials_invalid', { error_description: echo(request) });
      failure(401, body)(response, request);
    };
    expectNoSecret(await reason(latchkey.account(cut)));
    expectNoSecret(await reason(latchkey.convert(code.slice(0, -3))));
  });

  it('the rejection of an option or an argument', async () => {
    for (const secret of secrets) {
      for (const value of [secret, `${secret}\n`, secret.slice(0, -1)]) {
        const options = [
          { baseUrl: value, applicationSecret },
          { baseUrl: `https://${value}@latchkey.example`, applicationSecret },
          { baseUrl: `https://latchkey.example?${value}`, applicationSecret },
          { baseUrl: service.url, applicationSecret: value },
          { baseUrl: service.url, applicationSecret, timeoutMs: value },
        ];
        for (const option of options) {
          try {
            new Latchkey(option as LatchkeyOptions);
          } catch (error) {
            expectNoSecret(error);
          }
        }
        service.reply = () => {};
        for (const name of ['convert', 'revoke', 'recover', 'account', 'grant'] as const) {
          const call: Promise<unknown> = latchkey[name](value, { timeoutMs: 20 });
          expectNoSecret(await reason(call));
        }
      }
    }
  });
});

it('the request id of a result shows no secret', async () => {
  service.reply = (response) => {
    const data = { object: 'service_account' };
    response.writeHead(200, ascii).end(JSON.stringify({ result: { data } }));
  };
  const { request_id } = await latchkey.account(grantSecret);
  expect(request_id).toContain('[redacted]');
  expectNoSecret(request_id);
});

// Runs last, so that it covers the lines of all other tests.
it('no log line shows a secret', () => {
  expect(logged.length).toBeGreaterThan(100);
  expectNoSecret(logged);
});
