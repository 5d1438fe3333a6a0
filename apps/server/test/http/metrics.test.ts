import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { headersOf, invoke, JSON_TYPE, requestOf, send, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { startTestServer, useServer } from './running-server.ts';

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

describeOnEachStore('/metrics', (fresh) => {
  const server = useServer(fresh, { METRICS: 'on', RATE_LIMIT: 'requests=4/60' });
  const scrape = async () => {
    const answer = await send(server, { method: 'GET', path: '/metrics' });
    return { answer, samples: samplesIn(answer.text) };
  };
  /** Values by labels, of what was counted since. */
  const countsOf = (name: string, samples: Sample[], before: Sample[] = []) => {
    const key = ({ labels }: Sample) => Object.values(labels).join(' ').trimEnd();
    const own = (all: Sample[]) => all.filter((sample) => sample.name === name);
    const earlier = new Map(own(before).map((sample) => [key(sample), sample.value]));
    const since = own(samples).map(
      (sample) => [key(sample), sample.value - (earlier.get(key(sample)) ?? 0)] as const,
    );
    return Object.fromEntries(since.filter(([, value]) => value !== 0));
  };

  test('is text of Prometheus, with the headers of every answer', async () => {
    const { answer, samples } = await scrape();
    expect(answer.status).toBe(200);
    expect(headersOf(answer)).toStrictEqual({
      'content-type': 'text/plain; version=0.0.4; charset=utf-8',
      'cache-control': 'no-store',
      'x-request-id': expect.any(String),
    });
    const database = server.database.url.startsWith('file:') ? 'sqlite' : 'mongodb';
    expect(samples.filter(({ name }) => name === 'latchkey_build_info')).toEqual([
      { name: 'latchkey_build_info', labels: { version: packageJson.version, database }, value: 1 },
    ]);
    const names = samples.map(({ name }) => name);
    expect(names).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(names).toContain('process_resident_memory_bytes');
  });

  test('has exactly what was asked and answered', async () => {
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

    const { answer, samples } = await scrape();
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
      // The batch came when one more request was within the limit.
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
      expect(answer.text).not.toContain(secret);
    }
  });

  test('is no route unless it is asked for', async () => {
    const without = await startTestServer(server.database.url);
    const { status, json } = await send(without, { method: 'GET', path: '/metrics' });
    expect([status, json.error_code]).toEqual([404, 'route_not_found']);
    await without.close();
  });
});
