import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { invoke, JSON_TYPE, send } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator, startTestServer, useServer } from '../http/running-server.ts';
import { LINKING } from '../linking/link-flow.ts';
import { walk } from '../linking/walk.ts';

// As an operator's file does, before the service starts.
const exporter = new InMemorySpanExporter();
trace.setGlobalTracerProvider(
  new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
);
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
propagation.setGlobalPropagator(new W3CTraceContextPropagator());

afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

const idOf = (span: ReadableSpan | undefined) => span?.spanContext().spanId;
const childrenOf = (span: ReadableSpan | undefined) =>
  exporter
    .getFinishedSpans()
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === idOf(span));
const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);

describeOnAnyStore('traces', (fresh) => {
  const server = useServer(fresh);
  const database = () => server.database.system;

  beforeEach(() => exporter.reset());

  test('have a span of the request, of its call, and of each call of the store', async () => {
    const linked = await linkedApplication(server);
    const { code } = await linked.issue();
    exporter.reset();
    const { grant_id } = await linked.convert(code);

    const [request, ...others] = named('POST /oauth/convert');
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/oauth/convert',
        'http.response.status_code': 200,
        'latchkey.request_id': expect.stringMatching(/^[\w.-]{1,128}$/),
      },
    });
    const [call] = childrenOf(request);
    const { application_id } = linked;
    expect(call).toMatchObject({
      name: 'grants.convert',
      kind: SpanKind.INTERNAL,
      attributes: {
        'latchkey.operation': 'grants.convert',
        'latchkey.application_id': application_id,
        'latchkey.grant_id': grant_id,
      },
    });
    const stores = childrenOf(call);
    expect(stores.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['authenticateApplication', 'redeemCode']),
    );
    for (const { kind, name, attributes } of stores) {
      expect({ kind, attributes }).toEqual({
        kind: SpanKind.CLIENT,
        attributes: { 'db.system.name': database(), 'db.operation.name': name },
      });
    }
  });

  test('continue that of the caller, and take nothing else from its headers', async () => {
    const traceId = 'a'.repeat(32);
    const headers = {
      traceparent: `00-${traceId}-${'b'.repeat(16)}-01`,
      tracestate: 'vendor=lk_grant_x',
      baggage: 'secret=lk_grant_x',
    };
    await send(server, { method: 'GET', path: '/healthz', headers });
    const [span] = named('GET /healthz');
    expect(span?.spanContext()).toMatchObject({ traceId });
    expect(span?.spanContext().traceState).toBeUndefined();
    expect(span?.parentSpanContext?.spanId).toBe('b'.repeat(16));
  });

  test('of requests at the same time do not mix', async () => {
    const linked = await linkedApplication(server);
    const codes = await Promise.all(Array.from({ length: 8 }, () => linked.issue()));
    exporter.reset();
    await Promise.all(codes.map(({ code }) => linked.convert(code)));
    const requests = named('POST /oauth/convert');
    expect(requests).toHaveLength(8);
    expect(new Set(requests.map((span) => span.spanContext().traceId)).size).toBe(8);
    for (const request of requests) {
      const [call] = childrenOf(request);
      expect(childrenOf(call).filter(({ name }) => name === 'redeemCode')).toHaveLength(1);
    }
  });

  test('of a batch have a span of each call, with its own result', async () => {
    const linked = await linkedApplication(server);
    const grant = await linked.link();
    exporter.reset();
    await send(server, {
      method: 'POST',
      path: '/trpc/grants.revoke,grants.convert?batch=1',
      authorization: linked.bearer,
      headers: JSON_TYPE,
      body: JSON.stringify({ 0: { grant_id: grant.grant_id }, 1: { code: '' } }),
    });
    const [request] = named('POST /trpc/{procedures}');
    expect(request?.attributes).toMatchObject({ 'http.response.status_code': 207 });
    expect(
      childrenOf(request)
        .map(({ name, attributes }) => [name, attributes['error.type']])
        .sort(),
    ).toEqual([
      ['grants.convert', 'parameter_invalid'],
      ['grants.revoke', undefined],
    ]);
  });

  test('are errors if the service fails, and not if its caller does', async () => {
    const own = await startTestServer(server.database.url);
    await invoke(own, 'REST', 'account.get', {}, 'Bearer lk_grant_x');
    const [refused] = named('GET /v1/account');
    expect(refused?.attributes['error.type']).toBe('credentials_invalid');
    expect(refused?.status.code).toBe(SpanStatusCode.UNSET);

    await own.service.store.close();
    exporter.reset();
    const { json, headers } = await send(own, { method: 'GET', path: '/readyz' });
    expect(json.error_code).toBe('store_unavailable');
    expect(named('GET /readyz')[0]?.attributes['latchkey.request_id']).toBe(
      headers.get('x-request-id'),
    );
    for (const span of [named('GET /readyz')[0], named('ping')[0]]) {
      expect(span?.attributes['error.type']).toBe('store_unavailable');
      expect(span?.status).toEqual({ code: SpanStatusCode.ERROR });
      expect(span?.events).toEqual([]);
    }
    await own.close();
  });

  test('contain no credential, wherever a caller puts it', async () => {
    const linked = await linkedApplication(server);
    const { code } = await linked.issue();
    const grant = await linked.convert(code);
    const secrets = [code, linked.secret, grant.grant_secret, operator.replace('Bearer ', '')];
    for (const secret of secrets) {
      const headers = { 'X-Request-Id': secret.replace(/[^\w.-]/g, ''), traceparent: secret };
      for (const path of [`/oauth/${secret}`, `/trpc/${secret}`, `/v1/account?x=${secret}`]) {
        await send(server, { method: 'GET', path: encodeURI(path), headers });
      }
      await invoke(server, 'REST', 'account.get', {}, asBearer(grant));
      await invoke(server, 'tRPC', 'grants.convert', { code: secret }, linked.bearer);
    }
    const spans = exporter.getFinishedSpans();
    expect(spans.length).toBeGreaterThan(20);
    const text = JSON.stringify(
      spans.map((span) => [span.name, span.attributes, span.status, span.events, span.links]),
    );
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).toContain('[redacted]');
  });
});

describeOnAnyStore('traces of the linking flow', (fresh) => {
  const server = useServer(fresh, LINKING);

  test('have what the user did, and nothing that belongs to its parties', async () => {
    exporter.reset();
    const { secrets } = await walk(server);
    const calls = exporter
      .getFinishedSpans()
      .filter(({ attributes }) => attributes['latchkey.operation'] !== undefined);
    const seen = new Set(
      calls.map(({ name, attributes }) => `${name} ${attributes['latchkey.operation']}`),
    );
    for (const action of ['links.begin', 'pages.open', 'admin.links.approve']) {
      expect(seen).toContain(`${action} ${action}`);
    }
    const [allowed] = childrenOf(named('POST /link/{link_id}')[0]);
    expect(allowed?.name).toBe('admin.links.approve');
    const text = JSON.stringify(
      exporter
        .getFinishedSpans()
        .map(({ name, attributes, status, events, links }) => [
          ...[name, { ...attributes, 'latchkey.request_id': null }],
          ...[status, events, links],
        ]),
    );
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });
});
