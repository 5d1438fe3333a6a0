import type { ServerResponse } from 'node:http';
import { slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Json, succeed } from '../http/call.ts';
import { describeOnAnyStore, describeOnEachStore } from '../http/databases.ts';
import { postForm } from '../http/forms.ts';
import { operator, startTestServer, type TestServer, useServer } from '../http/running-server.ts';
import { authorize, linkingApplication } from '../linking/link-flow.ts';
import { approved, begin, pin, redeem, request, SETTINGS } from './document-flow.ts';
import { type PublishedDocument, publish, useWorld } from './document-server.ts';
import { signed, signingClient } from './signing-client.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const world = useWorld();

type Respond = (response: ServerResponse, published: PublishedDocument) => unknown;

/** What the server of a document does instead of sending it. */
const TEMPORARY: Record<string, Respond> = {
  'a 403 by address': (response) => response.writeHead(403).end('Just a moment...'),
  'a 404': (response) => response.writeHead(404).end(),
  'a 429': (response) => response.writeHead(429, { 'retry-after': '60' }).end(),
  'a 503': (response) => response.writeHead(503).end(),
  HTML: (response) => response.setHeader('content-type', 'text/html').end('<title>Soon</title>'),
  'an empty page of JSON': (response) =>
    response.setHeader('content-type', 'application/json').end(),
  'a move': (response, { address }) => response.writeHead(301, { location: address }).end(),
  'a reset': (response) => response.destroy(),
};

const FINAL: Record<string, Respond> = {
  'a 410': (response) => response.writeHead(410).end(),
  'a document with a secret': (response, { address }) =>
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        client_id: address,
        redirect_uris: ['http://127.0.0.1/callback'],
        client_secret: 'x',
      }),
    ),
  'a document that is too long': (response) =>
    response.setHeader('content-type', 'application/json').end(`{"x":"${'x'.repeat(20_000)}"}`),
  'a compressed document': (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      .end('{}'),
};

interface Signing {
  published: PublishedDocument;
  /** Sends what is signed with a key that its document does not have. */
  search(): Promise<unknown>;
}

describeOnEachStore('while the server of a document sends', (fresh) => {
  const server = useServer(fresh, SETTINGS);
  /** A process that was started later, on the same database. */
  let other: TestServer;
  let account_id: string;
  beforeAll(async () => {
    ({ account_id } = await linkingApplication(server));
    other = await startTestServer(server.database.url, SETTINGS);
  });
  afterAll(() => other.close());

  const approve = async (published: PublishedDocument) =>
    approved(server, await begin(server, published), account_id);

  async function outcome(at: TestServer, published: PublishedDocument) {
    const { status, headers, text } = await authorize(at, request(published));
    if (headers.get('location')?.includes('link=')) return 'a link';
    const [code] = /client_document_\w+/.exec(text) ?? [];
    return [status, code, headers.get('retry-after')];
  }

  const unavailable = [503, 'client_document_unavailable', '30'];
  const invalid = [400, 'client_document_invalid', null];

  /** What becomes of a link, by where the document was before. */
  async function outcomes(respond: Respond) {
    const published = async () => publish(world);
    const fail = (one: PublishedDocument) => {
      one.requests = 0;
      one.respond = (response) => respond(response, one);
    };
    const [nowhere, remembered, kept, pinned] = (await Promise.all(
      [1, 2, 3, 4].map(published),
    )) as [PublishedDocument, PublishedDocument, PublishedDocument, PublishedDocument];
    await begin(server, remembered);
    await approve(kept);
    await pin(server, pinned.address);
    for (const one of [nowhere, remembered, kept, pinned]) fail(one);
    server.advance(HOUR);
    const found = {
      nowhere: await outcome(server, nowhere),
      remembered: await outcome(server, remembered),
      kept: await outcome(other, kept),
      pinned: await outcome(other, pinned),
    };
    const fetches = [nowhere, remembered, kept, pinned].map(({ requests }) => requests);
    return { found, fetches };
  }

  const linked = {
    found: { nowhere: unavailable, remembered: 'a link', kept: 'a link', pinned: 'a link' },
    fetches: [1, 1, 1, 0],
  };

  test.each(Object.entries(TEMPORARY))('%s, whoever could link can link', async (_, respond) => {
    expect(await outcomes(respond)).toEqual(linked);
  });

  test('nothing, whoever could link can link', { ...slow, timeout: 60_000 }, async () => {
    expect(await outcomes(() => undefined)).toEqual(linked);
  });

  test.each(Object.entries(FINAL))('%s, only who is pinned can link', async (_, respond) => {
    const found = { nowhere: invalid, remembered: invalid, kept: invalid, pinned: 'a link' };
    expect(await outcomes(respond)).toEqual({ found, fetches: [1, 1, 1, 0] });
  });

  test('a 404 for half an hour, and then the document again', async () => {
    const published = await publish(world);
    await approve(published);
    const good = published.respond;
    published.respond = (response) => response.writeHead(404).end();
    for (let minute = 0; minute < 30; minute += 10) {
      expect(await outcome(other, published)).toBe('a link');
      other.advance(10 * MINUTE);
    }
    published.members = { client_name: 'Renamed' };
    published.respond = good;
    const link = await begin(other, published);
    const read = await succeed(other, 'admin.links.read', { link }, operator);
    expect(read.application.name).toBe('Renamed');
  });

  test('a 403, until a day after the time of the document', async () => {
    const published = await publish(world);
    await approve(published);
    published.respond = (response) => response.writeHead(403).end();
    const late = await startTestServer(server.database.url, { ...SETTINGS, METRICS: 'on' });
    try {
      // Its clock began at the time of this machine.
      late.advance(server.now() - late.now() + HOUR + DAY - MINUTE);
      expect(await outcome(late, published)).toBe('a link');
      // It came from the database.
      const metrics = await (await fetch(`${late.url}/metrics`)).text();
      for (const [result, count] of Object.entries({ good: 0, temporary: 1, kept: 1 })) {
        expect(metrics).toContain(`latchkey_document_fetches_total{result="${result}"} ${count}`);
      }
      late.advance(MINUTE);
      expect(await outcome(late, published)).toEqual(unavailable);
    } finally {
      await late.close();
    }
  });

  test('a 410 to one process, and a 403 to another that has nothing of it', async () => {
    const published = await publish(world);
    await approve(published);
    server.advance(HOUR);
    published.respond = (response) => response.writeHead(410).end();
    expect(await outcome(server, published)).toEqual(invalid);
    published.respond = (response) => response.writeHead(403).end();
    expect(await outcome(other, published)).toEqual(unavailable);
  });

  test('a 410 to one process, and then to another the document, which is kept again', async () => {
    const published = await publish(world);
    await approve(published);
    server.advance(HOUR);
    const good = published.respond;
    published.respond = (response) => response.writeHead(410).end();
    expect(await outcome(server, published)).toEqual(invalid);
    published.respond = good;
    published.requests = 0;
    expect(await outcome(other, published)).toBe('a link');
    // It is too early to look again.
    expect(await outcome(server, published)).toEqual(invalid);
    expect(published.requests).toBe(1);
    const { data } = await succeed(other, 'admin.documents.list', { limit: 100 }, operator);
    expect(data.map(({ document_uri }: Json) => document_uri)).toContain(published.address);
  });

  test('another document to a process without room, which keeps what there was', async ({
    skip,
  }) => {
    skip(server.database.system === 'postgresql', 'PostgreSQL does not tell what is free');
    const published = await publish(world);
    await approve(published);
    const full = await startTestServer(server.database.url, {
      ...{ ...SETTINGS, MIN_FREE_MB: '1048576' },
    });
    onTestFinished(() => full.close());
    published.requests = 0;
    published.members = { client_name: 'Renamed' };
    expect((await authorize(full, request(published))).status).toBe(503);
    expect(published.requests).toBe(1);
    const { data } = await succeed(server, 'admin.documents.list', { limit: 100 }, operator);
    const own = data.find(({ document_uri }: Json) => document_uri === published.address);
    expect(own.name).toBe('Notes Reader');
  });

  test('a 410 to one process, and then a 403 to another, until the time of what that has', async () => {
    const published = await publish(world);
    await approve(published);
    expect(await outcome(other, published)).toBe('a link');
    server.advance(HOUR);
    published.respond = (response) => response.writeHead(410).end();
    expect(await outcome(server, published)).toEqual(invalid);
    published.respond = (response) => response.writeHead(403).end();
    expect(await outcome(other, published)).toBe('a link');
    other.advance(HOUR);
    expect(await outcome(other, published)).toEqual(unavailable);
  });

  const ends: [what: string, end: (published: PublishedDocument) => Promise<unknown>][] = [
    [
      'a 410',
      async (published) => {
        server.advance(HOUR);
        published.respond = (response) => response.writeHead(410).end();
        expect(await outcome(server, published)).toEqual(invalid);
        server.advance(5_000);
      },
    ],
    [
      'what is pinned and unpinned',
      async ({ address: document_uri }) => {
        await pin(server, document_uri);
        await succeed(server, 'admin.documents.unpin', { document_uri }, operator);
      },
    ],
  ];
  test.each(ends)('%s to one process, and no other brings the document back', async (_, end) => {
    other.advance(server.now() - other.now());
    const published = await publish(world);
    const early = await begin(other, published);
    await approve(published);
    await end(published);
    published.respond = (response) => response.writeHead(403).end();
    const late = await begin(other, published);
    expect(await outcome(server, published)).toEqual(unavailable);
    for (const link of [early, late]) await approved(other, link, account_id);
    server.advance(5_000);
    expect(await outcome(server, published)).toEqual(unavailable);
  });

  test('another document between consent and redemption', async () => {
    const published = await publish(world);
    const { code } = await approve(published);
    published.members = { client_name: 'Bank', redirect_uris: [] };
    const { status } = await redeem(server, code, { client_id: published.address });
    expect(status).toBe(200);
  });

  const hearings: [how: string, after: number, hear: (client: Signing) => Promise<unknown>][] = [
    ['a 410 to a link', HOUR / 2, ({ published }) => outcome(server, published)],
    ['a 410 to a search for newer keys', MINUTE, ({ search }) => search()],
    [
      'a 410 once it is unpinned',
      MINUTE,
      async ({ published: { address, members } }) => {
        await pin(server, address, members);
        await succeed(server, 'admin.documents.unpin', { document_uri: address }, operator);
      },
    ],
  ];
  test.each(hearings)('%s, which ends the document and its keys', async (_, after, hear) => {
    const { published, sign } = await signingClient(world, server, { inline: true });
    const { code } = await approve(published);
    const statusOf = async (assertion: string, from: Parameters<typeof postForm>[0] = server) =>
      (await postForm(from, '/oauth/revoke', { token: code, ...signed(assertion) })).status;
    const search = async () => statusOf(await sign('another'));
    server.advance(HOUR / 2);
    expect(await search()).toBe(400);
    expect(await statusOf(await sign())).toBe(200);
    other.advance(server.now() - other.now());
    expect(await statusOf(await sign(), other)).toBe(200);
    server.advance(after);
    published.respond = (response) => response.writeHead(410).end();
    await hear({ published, search });
    const found = { keys: await statusOf(await sign()), link: await outcome(server, published) };
    published.respond = (response) => response.writeHead(403).end();
    other.advance(server.now() - other.now());
    expect({ ...found, kept: await outcome(other, published) }).toEqual({
      ...{ keys: 503, link: invalid, kept: unavailable },
    });
    // Until the time of its own copy is over.
    for (const each of [server, other]) each.advance(2 * HOUR);
    expect(await statusOf(await sign(), other)).toBe(503);
  });

  test('nothing of keys that were changed, once the time of older ones is over', async () => {
    const { published, keys, sign } = await signingClient(world, server, { inline: true });
    const { code } = await approve(published);
    const statusOf = async (assertion: string) =>
      (await postForm(server, '/oauth/revoke', { token: code, ...signed(assertion) })).status;
    server.advance(HOUR / 2);
    // A search for newer keys has a copy of its own.
    expect(await statusOf(await sign('another'))).toBe(400);
    server.advance(HOUR);
    keys.list.splice(0, 1, { ...(keys.list[0] as object), kid: 'new' });
    expect(await outcome(server, published)).toBe('a link');
    published.respond = (response) => response.destroy();
    server.advance(2 * HOUR);
    expect(await statusOf(await sign('new'))).toBe(200);
  });

  test('nothing of the keys in it, which another process has from the database', async () => {
    const { published, sign } = await signingClient(world, server, { inline: true });
    const { code } = await approve(published);
    published.respond = (response) => response.destroy();
    other.advance(server.now() - other.now());
    expect((await redeem(other, code, signed(await sign()))).status).toBe(200);
  });
});

describeOnAnyStore('while the server of documents sends nothing', (fresh) => {
  const server = useServer(fresh, SETTINGS);

  test('who hangs up holds no place in the line', async () => {
    await linkingApplication(server);
    const load = () => server.service.linking?.clientDocuments?.load().documents;
    const soon = { interval: 5, timeout: 20_000 };
    const hungUp = new AbortController();
    const ask = async (signal?: AbortSignal) => {
      const published = Object.assign(await publish(world), { respond: () => {} });
      const query = new URLSearchParams(request(published));
      const options = signal === undefined ? {} : { signal };
      const asked = fetch(`${server.url}/oauth/authorize?${query}`, options).catch(() => {});
      return { published, asked };
    };
    const running = await Promise.all([ask(), ask()]);
    await expect.poll(load, soon).toEqual({ running: 2, waiting: 0 });
    const last = await ask(hungUp.signal);
    await expect.poll(load, soon).toEqual({ running: 2, waiting: 1 });
    hungUp.abort();
    await expect.poll(load, soon).toMatchObject({ waiting: 0 });
    await Promise.all(running.map(({ asked }) => asked));
    // It was let in by nobody.
    expect(last.published.requests).toBe(0);
  });
});
