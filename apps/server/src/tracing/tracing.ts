import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '@latchkey/domain/domain-error';
import { errorDefinition } from '@latchkey/schema';
import type { StoreObserver } from '@latchkey/store/observe-store';
import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import packageJson from '../../package.json' with { type: 'json' };
import { type CallSummary, ClientGone, type TraceCall } from '../operations/call.ts';

interface TracedRequest {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly redacted: { readonly request_id: string };
  readonly wire: 'rest' | 'trpc';
  readonly route: string | null;
  readonly calls: readonly Pick<CallSummary, 'error_code'>[];
}

/** @param run - never rejects */
export type TraceRequest = (request: TracedRequest, run: () => Promise<void>) => Promise<void>;

/** Known values or ids: never a path, a header, a credential, or the message of an error. */
export interface Tracing {
  traceRequest: TraceRequest;
  traceCall: TraceCall;
  observeStore: StoreObserver;
}

export function createTracing(): Tracing {
  const tracer = trace.getTracer(packageJson.name, packageJson.version);

  async function within<T>(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    parent: Context,
    run: () => Promise<T>,
    finish: (span: Span, error: unknown) => void,
  ): Promise<T> {
    const span = tracer.startSpan(name, { kind, attributes }, parent);
    let failure: unknown;
    try {
      return await context.with(trace.setSpan(parent, span), run);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      finish(span, failure);
      span.end();
    }
  }

  return {
    traceRequest(request, run) {
      const { method = '' } = request.request;
      const attributes = {
        'http.request.method': method,
        'latchkey.request_id': request.redacted.request_id,
      };
      const parent = parentOf(request);
      return within(method, SpanKind.SERVER, attributes, parent, run, (span) => {
        const { response, wire, calls } = request;
        const route = wire === 'trpc' ? '/trpc/{procedures}' : request.route;
        if (route !== null) {
          span.updateName(`${method} ${route}`);
          span.setAttribute('http.route', route);
        }
        if (!response.headersSent) {
          span.setAttribute('error.type', 'client_gone');
          return;
        }
        span.setAttribute('http.response.status_code', response.statusCode);
        const [first] = calls;
        if (calls.length === 1) noteError(span, first?.error_code);
        else if (calls.some(({ error_code }) => isFault(error_code))) {
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
      });
    },

    traceCall(operation, summary, run) {
      const parent = context.active();
      return within(operation, SpanKind.INTERNAL, {}, parent, run, (span, error) => {
        const { action = operation, application_id, grant_id, error_code } = summary;
        span.updateName(action);
        span.setAttribute('latchkey.operation', action);
        if (application_id !== undefined) {
          span.setAttribute('latchkey.application_id', application_id);
        }
        if (grant_id !== undefined) span.setAttribute('latchkey.grant_id', grant_id);
        noteError(span, error instanceof ClientGone ? 'client_gone' : error_code);
      });
    },

    observeStore(method, run, system) {
      const parent = context.active();
      // Work outside of requests, such as sharing counts every second, would make traces of one
      // span.
      if (trace.getSpan(parent) === undefined) return run();
      const attributes = { 'db.system.name': system, 'db.operation.name': method };
      return within(method, SpanKind.CLIENT, attributes, parent, run, (span, error) => {
        if (error !== undefined) noteError(span, DomainError.from(error).code);
      });
    },
  };
}

/** Only `traceparent` is read, which contains nothing but hexadecimal digits. */
function parentOf({ request }: TracedRequest): Context {
  const active = context.active();
  const { traceparent } = request.headers;
  if (trace.getSpan(active) !== undefined || traceparent === undefined) return active;
  return propagation.extract(active, { traceparent });
}

type ErrorType = Parameters<typeof errorDefinition>[0] | 'client_gone' | undefined;

const isFault = (type: ErrorType): boolean =>
  type !== undefined && type !== 'client_gone' && errorDefinition(type).status >= 500;

function noteError(span: Span, type: ErrorType): void {
  if (type === undefined) return;
  span.setAttribute('error.type', type);
  if (isFault(type)) span.setStatus({ code: SpanStatusCode.ERROR });
}
