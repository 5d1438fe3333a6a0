import { AsyncLocalStorage } from 'node:async_hooks';
import type { Milliseconds } from './clock.ts';
import { DomainError } from './domain-error.ts';

/** From the last byte of a request, over all its steps: `docs/protocol/limits.md#sizes`. */
export const REQUEST_DEADLINE: Milliseconds = 20_000;

/** Stands for what a request has seen. A store remembers a time for it. */
export type Moment = object;

export interface RequestScope {
  endsAt: number;
  /** Replaced once what was seen no longer counts. */
  moment: Moment;
  isOver: boolean;
}

const scopes = new AsyncLocalStorage<RequestScope | undefined>();

/** @param scope - where it differs from that of a request that begins now */
export async function inRequest<T>(
  run: () => Promise<T>,
  { endsAt = performance.now() + REQUEST_DEADLINE, moment = {} }: Partial<RequestScope> = {},
): Promise<T> {
  const scope: RequestScope = { endsAt, moment, isOver: false };
  try {
    return await scopes.run(scope, run);
  } finally {
    scope.isOver = true;
  }
}

/** What the request has seen still counts. */
export function withoutDeadline<T>(run: () => Promise<T>): Promise<T> {
  const scope = requestScope();
  if (scope === undefined) return run();
  return inRequest(run, { ...scope, endsAt: Number.POSITIVE_INFINITY });
}

/** For work that several requests share. */
export function outsideRequests<T>(run: () => T): T {
  return scopes.run(undefined, run);
}

/** Undefined for commands and housekeeping, also for what a request has left behind. */
export function requestScope(): RequestScope | undefined {
  const scope = scopes.getStore();
  return scope?.isOver ? undefined : scope;
}

export function isPastDeadline(scope = requestScope()): boolean {
  return scope !== undefined && performance.now() >= scope.endsAt;
}

/** Its last byte has arrived: what was looked up before may be outdated. */
export function restartRequest(): void {
  const scope = requestScope();
  if (scope === undefined) return;
  scope.endsAt = performance.now() + REQUEST_DEADLINE;
  scope.moment = {};
}

/** What is seen from now on counts for all requests that share a moment. */
export function shareMoment(moment: Moment): void {
  const scope = requestScope();
  if (scope !== undefined) scope.moment = moment;
}

export function pastDeadline(): DomainError {
  return new DomainError('store_unavailable', {}, new Error('The request has no time left.'));
}

/** The work itself goes on if it is late. */
export async function beforeDeadline<T>(
  work: Promise<T>,
  late: () => DomainError = pastDeadline,
): Promise<T> {
  const scope = requestScope();
  if (scope === undefined || scope.endsAt === Number.POSITIVE_INFINITY) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const left = Math.max(0, scope.endsAt - performance.now());
  const timer = setTimeout(() => reject(late()), left);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
