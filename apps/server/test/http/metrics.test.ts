import { once } from 'node:events';
import { connect } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import { DomainError } from '@latchkey/domain/domain-error';
import { limitNames } from '@latchkey/rules/limits/rate-limit-setting';
import { attemptResults, errorCodes } from '@latchkey/schema';
import { methodsOf } from '@latchkey/store/observe-store';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { startReceiver } from '../events/receiver.ts';
import { headersOf, invoke, JSON_TYPE, requestOf, send, succeed, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

const WAIT = { timeout: 20_000 };

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The samples in Prometheus' text format. */
function samplesIn(text: string): Sample[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, word]) => [key, word]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });
}

describeOnAnyStore('/metrics', (fresh) => {
  const server = useServer(fresh, { METRICS: 'on', RATE_LIMIT: 'requests=4/60' });
  const scrape = async () => {
    const response = await send(server, { method: 'GET', path: '/metrics' });
    return { response, samples: samplesIn(response.text) };
  };
  /** What was counted since an earlier scrape, by label values. */
  const countsOf = (name: string, samples: Sample[], before: Sample[] = []) => {
    const key = ({ labels }: Sample) => Object.values(labels).join(' ').trimEnd();
    const own = (all: Sample[]) => all.filter((sample) => sample.name === name);
    const earlier = new Map(own(before).map((sample) => [key(sample), sample.value]));
    const since = own(samples).map(
      (sample) => [key(sample), sample.value - (earlier.get(key(sample)) ?? 0)] as const,
    );
    return Object.fromEntries(since.filter(([, value]) => value !== 0));
  };

  test('has the number of connections that the start has logged', async () => {
    const { samples } = await scrape();
    const [limit] = samples.filter(({ name }) => name === 'latchkey_connections_limit');
    const started = server.lines.map((line) => JSON.parse(line));
    expect(started.find(({ msg }) => msg === 'listening')).toMatchObject({
      connections: limit?.value,
    });
    const mebibytes = getHeapStatistics().heap_size_limit / 2 ** 20;
    expect(limit?.value).toBeLessThanOrEqual(2 * mebibytes);
    expect(limit?.value).toBeGreaterThan(0);
  });

  test('is in the text format of Prometheus, with the headers of every response', async () => {
    const { response, samples } = await scrape();
    expect(response.status).toBe(200);
    expect(headersOf(response)).toStrictEqual({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
    });
    const database = server.database.system;
    expect(samples.filter(({ name }) => name === 'latchkey_build_info')).toEqual([
      { name: 'latchkey_build_info', labels: { version: packageJson.version, database }, value: 1 },
    ]);
    const names = samples.map(({ name }) => name);
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(names).toContain('process_resident_memory_bytes');
  });

  test('counts exactly the requests and their results', async () => {
    const linked = await linkedApplication(server);
    const { code } = await linked.issue();
    const before = (await scrape()).samples;

    const grant = await linked.convert(code);
    for (const wire of wires) {
      await invoke(server, wire, 'grants.convert', { code: '' }, linked.bearer);
      await invoke(server, wire, 'account.get', {}, 'Bearer lk_grant_x');
      await send(server, { ...requestOf(wire, 'account.get'), authorization: asBearer(grant) });
    }
    await send(server, { method: 'GET', path: `/oauth/${code}` });
    await send(server, { method: 'PROPFIND', path: '/oauth/convert' });
    await send(server, { method: 'GET', path: '/healthz' });
    await send(server, { method: 'GET', path: `/trpc/${code}` });
    await send(server, {
      method: 'POST',
      path: `/trpc/grants.revoke,grants.convert,${code},grants.revoke?batch=1`,
      authorization: linked.bearer,
      headers: JSON_TYPE,
      body: JSON.stringify({ ...Array(4).fill({ grant_id: grant.grant_id, code }) }),
    });

    const { response, samples } = await scrape();
    expect(countsOf('latchkey_requests_total', samples, before)).toEqual({
      'grants.convert rest 200': 1,
      'grants.convert rest 400 parameter_invalid': 1,
      'grants.convert trpc 400 parameter_invalid': 1,
      'account.get rest 401 credentials_invalid': 1,
      'account.get trpc 401 credentials_invalid': 1,
      'account.get rest 200': 1,
      'account.get trpc 200': 1,
      'unknown rest 404 route_not_found': 1,
      'unknown rest 405 method_not_allowed': 1,
      '/healthz rest 200': 1,
      'unknown trpc 404 route_not_found': 2,
      // The limit allowed one more request when the batch arrived.
      'grants.revoke trpc 200': 1,
      'grants.convert trpc 429 rate_limited': 1,
      'grants.revoke trpc 429 rate_limited': 1,
      '/metrics rest 200': 1,
    });
    expect(countsOf('latchkey_request_duration_seconds_count', samples, before)).toEqual({
      'grants.convert rest': 2,
      'grants.convert trpc': 2,
      'grants.revoke trpc': 2,
      'account.get rest': 2,
      'account.get trpc': 2,
      'unknown rest': 2,
      'unknown trpc': 2,
      '/healthz rest': 1,
      '/metrics rest': 1,
    });
    expect(countsOf('latchkey_rate_limited_total', samples, before)).toEqual({ requests: 2 });
    for (const secret of [code, linked.secret, grant.grant_secret, grant.grant_id]) {
      expect(response.text).not.toContain(secret);
    }
  });

  // An alert on a counter that begins with 1 would miss the first failure of a process.
  test('has the counters of failures from the start', async () => {
    const fresh = await startTestServer(server.database.url, { METRICS: 'on' });
    const { text } = await send(fresh, { method: 'GET', path: '/metrics' });
    const samples = samplesIn(text);
    const zeros = (name: string, label: string) =>
      samples
        .filter((sample) => sample.name === name && sample.value === 0)
        .map(({ labels }) => labels[label]);
    expect(zeros('latchkey_errors_total', 'error_code')).toEqual(errorCodes);
    expect(zeros('latchkey_rate_limited_total', 'limit')).toEqual(limitNames);
    expect(new Set(zeros('latchkey_store_failures_total', 'method'))).toEqual(
      new Set([...methodsOf(fresh.service.store), 'housekeeping']),
    );
    expect(zeros('latchkey_log_dropped_total', '')).toHaveLength(1);
    expect(zeros('latchkey_connections_refused_total', '')).toHaveLength(1);
    await fresh.close();
  });

  test('counts the store, its failures and its pending codes', async () => {
    const own = await startTestServer(server.database.url, { METRICS: 'on' });
    const scrapeOwn = async () =>
      samplesIn((await send(own, { method: 'GET', path: '/metrics' })).text);
    const linked = await linkedApplication(own);
    const before = await scrapeOwn();
    const { code } = await linked.issue();
    await linked.issue();
    await linked.convert(code);
    const after = await scrapeOwn();
    const pending = (samples: Sample[]) =>
      samples.find(({ name }) => name === 'latchkey_pending_codes')?.value ?? 0;
    expect(pending(after) - pending(before)).toBe(1);
    const found = (name: string) => after.find((sample) => sample.name === name)?.value;
    expect(found('latchkey_store_bytes')).toBeGreaterThan(0);
    // PostgreSQL does not tell it.
    const tellsFree = server.database.system !== 'postgresql';
    expect(Number.isNaN(found('latchkey_store_free_bytes'))).toBe(!tellsFree);
    const calls = countsOf('latchkey_store_duration_seconds_count', after, before);
    expect(calls).toMatchObject({ issueCode: 2, redeemCode: 1 });

    // A method that only runs outside of requests counts as well.
    await own.service.store.close();
    const addition = { key: 'a', points: 1, now: 0, duration: 1 };
    await expect(own.service.store.addToCount(addition)).rejects.toThrow(DomainError);
    await send(own, { method: 'GET', path: '/readyz' });
    const closed = await scrapeOwn();
    expect(countsOf('latchkey_store_failures_total', closed, after)).toMatchObject({
      'addToCount store_unavailable': 1,
      'ping store_unavailable': 1,
    });
    expect(countsOf('latchkey_errors_total', closed, after)).toEqual({ store_unavailable: 1 });
    expect(pending(closed)).toBeNaN();
    await own.close();
  });

  test('counts the connections', async () => {
    const connections = async () => {
      const { samples } = await scrape();
      const [sample] = samples.filter(({ name }) => name === 'latchkey_connections');
      return sample?.value ?? Number.NaN;
    };
    const before = await connections();
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    await expect.poll(connections).toBe(before + 1);
    socket.destroy();
    await expect.poll(connections).toBe(before);

    const { samples } = await scrape();
    const pool = samples.filter(({ name }) => name === 'latchkey_store_connections');
    const idle = pool.find(({ labels }) => labels.state === 'idle')?.value ?? 0;
    const hasPool = server.database.system !== 'sqlite';
    expect(pool.map(({ labels }) => labels.state)).toEqual(hasPool ? ['in_use', 'idle'] : []);
    expect(idle > 0).toBe(hasPool);
  });

  test('counts what endpoints are told, and how late, where events are on', async () => {
    const own = await startTestServer(server.database.url, {
      METRICS: 'on',
      EVENTS_KEY: 'an-events-key-of-32-characters-or-more',
      OUTBOUND_ALLOW: 'private,http',
    });
    const scrapeOwn = async () =>
      samplesIn((await send(own, { method: 'GET', path: '/metrics' })).text);
    const eventsIn = (samples: Sample[]) => {
      const value = (name: string) => samples.find((sample) => sample.name === name)?.value;
      return {
        attempts: countsOf('latchkey_event_attempts_total', samples),
        disabled: countsOf('latchkey_endpoints_disabled_total', samples),
        durations: value('latchkey_event_attempt_seconds_count'),
        pending: value('latchkey_events_pending'),
        oldest: value('latchkey_events_oldest_seconds'),
      };
    };
    const before = await scrapeOwn();
    const results = before.filter(({ name }) => name === 'latchkey_event_attempts_total');
    expect(results.map(({ labels }) => labels.result)).toEqual(attemptResults);
    expect(eventsIn(before)).toMatchObject({ attempts: {}, durations: 0, pending: 0, oldest: 0 });

    const receiver = await startReceiver();
    receiver.answer = (response) => void response.writeHead(500).end();
    const { url } = receiver;
    const endpoint = await succeed(own, 'admin.endpoints.create', { url }, operator);
    const linked = await linkedApplication(own);
    await linked.convert((await linked.issue()).code);
    const refused = { attempts: { refused: 1 }, disabled: {}, durations: 1, pending: 1 };
    await expect.poll(async () => eventsIn(await scrapeOwn()), WAIT).toMatchObject(refused);
    // The next try is due in 5 s, by a clock that stands still.
    own.advance(4_000);
    expect(eventsIn(await scrapeOwn()).oldest).toBeGreaterThanOrEqual(4);

    receiver.answer = (response) => void response.writeHead(410).end();
    own.advance(2_000);
    const gone = { attempts: { refused: 2 }, disabled: { gone: 1 }, pending: 0, oldest: 0 };
    await expect.poll(async () => eventsIn(await scrapeOwn()), WAIT).toMatchObject(gone);
    const without = (await scrape()).samples.map(({ name }) => name);
    expect(without.filter((name) => /^latchkey_e(?:vent|ndpoint)/.test(name))).toEqual([]);
    const path = `/admin/endpoints/${endpoint.id}`;
    await send(own, { method: 'DELETE', path, authorization: operator });
    await own.close();
    await receiver.close();
  });

  test('is no route unless METRICS is on', async () => {
    const without = await startTestServer(server.database.url);
    const { status, json } = await send(without, { method: 'GET', path: '/metrics' });
    expect([status, json.error_code]).toEqual([404, 'route_not_found']);
    await without.close();
  });
});
