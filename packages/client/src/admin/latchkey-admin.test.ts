import { inspect } from 'node:util';
import { operations } from '@latchkey/schema';
import { beforeEach, describe, expect, it } from 'vitest';
import { refusal, result } from '../../test/fake-service.ts';
import { reason } from '../../test/reason.ts';
import { account, credential, grantId } from '../../test/samples.ts';
import { useFakeService } from '../../test/use-fake-service.ts';
import {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  LatchkeyConfigError,
  LatchkeyError,
  TimeoutError,
  UnavailableError,
  UnexpectedResponseError,
} from '../index.ts';
import { LatchkeyAdmin, type LatchkeyAdminOptions } from './index.ts';

const service = useFakeService();
const adminSecret = 'an-admin-secret-that-nobody-can-guess';
const link = credential('link', 4);
const account_id = account.id;

let admin: LatchkeyAdmin;
beforeEach(() => {
  admin = new LatchkeyAdmin({ baseUrl: service.url, adminSecret, maxRetries: 0 });
});

type Call = (input?: object, options?: object) => Promise<object>;
/** The method of an operation, by its name without `admin.`. */
const methodOf = (name: string) =>
  name.split('.').reduce<object>((group, word) => group[word as never], admin) as Call;

type ResultSchema = { shape: { object: { value: string } } };
const contracts = Object.entries(operations)
  .filter(([, { caller }]) => caller === 'operator')
  .map(([name, { method, output }]) => ({
    name: name.replace('admin.', ''),
    isQuery: method === 'GET',
    object: (output as ResultSchema).shape.object.value,
  }));

describe.each(contracts)('$name', ({ name, isQuery, object }) => {
  const input = { account_id, limit: 2, name: 'Ä' };

  it('calls its operation with the admin secret, and returns the result', async () => {
    service.reply = result({ object, newer: [1] });
    const returned = await methodOf(name)(input);
    expect(returned).toEqual({ object, newer: [1] });
    expect(returned).toMatchObject({ request_id: 'request-1', response: { status: 200 } });

    const [request] = service.requests;
    const url = new URL(request?.url ?? '', service.url);
    expect([request?.method, url.pathname]).toEqual([
      isQuery ? 'GET' : 'POST',
      `/trpc/admin.${name}`,
    ]);
    const sent = isQuery ? url.searchParams.get('input') : request?.body;
    expect(JSON.parse(sent ?? '')).toEqual(input);
    expect(request?.headers.authorization).toBe(`Bearer ${adminSecret}`);
  });

  it('needs no input if the operation needs none', async () => {
    service.reply = result({ object });
    await methodOf(name)();
    expect(service.requests[0]).toMatchObject({ url: `/trpc/admin.${name}`, body: '' });
  });

  it('rejects a result of another kind', async () => {
    service.reply = result({ object: 'something_else' });
    await expect(methodOf(name)(input)).rejects.toThrow(UnexpectedResponseError);
  });

  it(`is ${isQuery ? '' : 'not '}retried if its outcome is open`, async () => {
    service.reply = (response) => void response.destroy();
    const again = methodOf(name)(input, { maxRetries: 1 });
    await expect(again).rejects.toThrow(ConnectionError);
    expect(service.requests).toHaveLength(isQuery ? 2 : 1);
  });
});

describe('for await', () => {
  const cursorOf = ({ url }: { url: string }) =>
    JSON.parse(new URL(url, service.url).searchParams.get('input') ?? '{}').cursor;
  const pages: Record<string, object> = {
    first: { data: [1, 2], next_cursor: 'second' },
    second: { data: [], next_cursor: 'third' },
    third: { data: [3], next_cursor: null },
  };
  beforeEach(() => {
    service.reply = (response, request) =>
      result({ object: 'list', ...pages[cursorOf(request) ?? 'first'] })(response, request);
  });

  it('gets the entries of all pages', async () => {
    const entries: unknown[] = [];
    const list = admin.grants.list({ account_id, limit: 2 });
    for await (const entry of list) entries.push(entry);
    expect(entries).toEqual([1, 2, 3]);
    expect(service.requests.map(cursorOf)).toEqual([undefined, 'second', 'third']);
    expect((await list).data).toEqual([1, 2]);
    for (const { url } of service.requests) expect(url).toContain(account_id);
  });

  it('sends no request for entries that nobody takes', async () => {
    for await (const entry of admin.applications.list()) if (entry as unknown) break;
    expect(service.requests).toHaveLength(1);
  });

  it('rejects with the error of a page', async () => {
    service.reply = (response, request) =>
      (cursorOf(request)
        ? refusal('credentials_invalid')
        : result({ object: 'list', ...pages.first }))(response, request);
    async function walk() {
      for await (const _ of admin.accounts.list());
    }
    await expect(walk()).rejects.toThrow(AuthenticationError);
  });
});

describe('an error', () => {
  it('is that of the other client, with the caller first in its stack', async () => {
    service.reply = refusal('credentials_invalid');
    async function signIn() {
      await admin.links.identify({ link, account_id });
    }
    const error = await reason(signIn());
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, request_id: 'request-1' });
    expect(error.cause).toBeUndefined();
    expect(error.stack).toMatch(/^AuthenticationError: .*\n +at .*signIn/);
  });

  it('says where an expired link leads, and does not log it', async () => {
    const redirect_to = 'https://acme.example/callback?error=access_denied&state=theirs';
    service.reply = refusal('link_expired', { redirect_to });
    const error = await reason(admin.links.identify({ link, account_id }));
    expect(error).toBeInstanceOf(InvalidRequestError);
    expect(error).toMatchObject({ error_code: 'link_expired', status: 410 });
    expect(error.redirect_to).toBe(redirect_to);
    expect(inspect(error) + JSON.stringify(error)).not.toContain('theirs');
  });

  it('says what was decided before', async () => {
    service.reply = refusal('link_decided', { status: 'denied' });
    const error = await reason(admin.links.approve({ link, account_id }));
    expect(error).toMatchObject({ error_code: 'link_decided', status: 409, link_status: 'denied' });
  });

  it('is a timeout, or the reason of an abort', async () => {
    service.reply = () => {};
    await expect(admin.scopes.list({}, { timeoutMs: 20 })).rejects.toThrow(TimeoutError);
    const aborted = admin.scopes.list({}, { signal: AbortSignal.abort('left') });
    await expect(aborted).rejects.toBe('left');
  });

  it('is retried if nothing was done', async () => {
    service.reply = refusal('store_unavailable', {}, { 'retry-after': '0' });
    const again = admin.links.deny({ link }, { maxRetries: 1 });
    await expect(again).rejects.toThrow(UnavailableError);
    // The read that timed out above may arrive as late as now.
    expect(service.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
  });

  it('is a LatchkeyConfigError for an option that does not exist', async () => {
    const options = { timeout: 5 } as object;
    await expect(admin.links.read({ link }, options)).rejects.toThrow(/Did you mean timeoutMs/);
  });
});

describe('the secret', () => {
  const expectNoSecret = (value: unknown) => {
    const shown = inspect(value, { depth: 9, showHidden: true }) + JSON.stringify({ value });
    for (const secret of [adminSecret, link]) expect(shown).not.toContain(secret);
  };

  it('is not shown by a client', () => {
    expectNoSecret(admin);
    expect(Object.keys(admin)).not.toContain('adminSecret');
  });

  it('is in no error and no log line, even if the service repeats everything', async () => {
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const logging = new LatchkeyAdmin({
      baseUrl: service.url,
      adminSecret,
      maxRetries: 0,
      logger: { debug: log, warn: log },
    });
    const mistyped = 'lk_link_mistyped';
    for (const secret of [link, mistyped]) {
      service.reply = (response, request) => {
        const text = `${request.headers.authorization} ${request.body}`;
        refusal('link_not_found', { error_description: text, request_id: text })(response, request);
      };
      const error = await reason(logging.links.read({ link: secret }));
      expect(error).toBeInstanceOf(LatchkeyError);
      expectNoSecret(error);
      expect(inspect(error)).not.toContain(mistyped);
    }
    expect(lines).toHaveLength(2);
    expectNoSecret(lines);
  });
});

describe('the constructor', () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /adminSecret is missing.*LATCHKEY_ADMIN_SECRET/],
    ['an empty string', '', /adminSecret is missing/],
    ['a short secret', 'hunter2', /at least 32 printable ASCII/],
    ['a secret with a line break', `${adminSecret}\n`, /Copy the whole secret/],
  ])('rejects %s as adminSecret', (_, wrong, message) => {
    const options = { baseUrl: service.url, adminSecret: wrong } as LatchkeyAdminOptions;
    expect(() => new LatchkeyAdmin(options)).toThrow(LatchkeyConfigError);
    expect(() => new LatchkeyAdmin(options)).toThrow(message);
    if (wrong) expect(() => new LatchkeyAdmin(options)).not.toThrow(String(wrong));
  });

  it('rejects an option that does not exist', () => {
    const options = { baseUrl: service.url, adminSecret, applicationSecret: grantId };
    expect(() => new LatchkeyAdmin(options)).toThrow(/no option applicationSecret.*adminSecret/);
  });
});
