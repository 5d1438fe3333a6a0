import type { ErrorCode } from '@latchkey/schema';
import type { AuditedCall, AuditedIds } from '../audit/audit.ts';
import { DomainError } from '../domain-error.ts';
import type { ActionName, Actor, Initiator } from '../initiator.ts';
import type { Limits } from '../limits/limits.ts';
import type { Service } from '../service.ts';
import type { Action, IdPaths } from './action.ts';
import { countCall, countFailure, limitFailure } from './call-limits.ts';
import type { AnyCaller, CallerKind } from './caller.ts';
import { validate } from './input.ts';

/** The client went away before its request was complete: nobody gets a response. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What a call is known to be about so far. The edge puts it into its log line. */
export interface CallRecord {
  /** What is done, as far as it is known: an input may decide it. */
  action?: ActionName;
  /** The authenticated application, or the one that the authenticated grant belongs to. */
  application_id?: string | undefined;
  grant_id?: string | undefined;
  /** Which secret the operator used. */
  admin_secret?: 'current' | 'previous' | undefined;
  error_code?: ErrorCode;
}

/** What a call needs of the request that makes it. */
export interface CallRequest {
  /** The parts of the request that may be kept: neither contains a credential. */
  readonly recorded: { request_id: string; address: string | null };
  /** The client's address, against which failures count. */
  readonly address: string | undefined;
  /** Base of the links in the output, without a trailing slash; empty for none. */
  readonly publicUrl: string;
  /** Whether the body that was read arrived while the request was handled. */
  readonly waitedForBody: boolean;
  /** Null if nobody waits for a response on a connection. */
  readonly response: { destroy(): unknown } | null;
}

/** The steps of a call that differ between REST, tRPC, the pages and the inside of the process. */
export interface CallSteps<
  Output extends object = object,
  Input extends object = object,
  By extends AnyCaller = AnyCaller,
> {
  readonly authenticate: () => Promise<By>;
  /** Returns the members of the input. Runs once the caller is known. */
  readonly readInput: () => Promise<Input>;
  /** Whether the credentials were in the body: then they were checked after its last byte. */
  readonly authenticatesInBody?: boolean;
  /**
   * Tells which action an input is for, if several share a route. Default: the one of the call.
   *
   * @throws DomainError if the input is for none
   */
  readonly chooseAction?: (input: Input) => Action<Output, Input, By>;
  /** Validates the input and returns what is handled. Default: the schema of the action does. */
  readonly validateInput?: (input: Input) => Promise<object>;
  readonly request: CallRequest;
  readonly record: CallRecord;
  /** Who acts once the caller is authenticated. Default: the kind of caller the action takes. */
  readonly by?: Actor;
  /** At the command line: the user of the operating system. */
  readonly os_user?: string;
}

/** A call that is about to be handled: its caller is authenticated and its input is valid. */
export interface InterceptedCall {
  operation: ActionName;
  /** Closes the client's connection without a response. What has begun still completes. */
  breakConnection(): void;
}

/**
 * Wraps the handling of every call. Tests use it to make a call fail or to lose its response.
 *
 * @param handle - applies the application's limits and runs the handler; returns the object of the
 *   wire, or throws a DomainError
 */
export type Intercept = (call: InterceptedCall, handle: () => Promise<object>) => Promise<object>;

/** Runs a call in a span of its own. */
export type TraceCall = <Output>(
  operation: ActionName,
  record: CallRecord,
  run: () => Promise<Output>,
) => Promise<Output>;

/** What every call works with. */
export interface CallContext {
  service: Service;
  limits: Limits;
  /** Default: nothing wraps a call. */
  intercept?: Intercept | undefined;
  /** Default: calls have no spans. */
  traceCall?: TraceCall | undefined;
}

/**
 * Runs one call of an action, in the order of `docs/protocol/README.md#order-of-checks`: authenticate,
 * read the input, validate it, apply the limits, handle, audit.
 *
 * @returns what the action returns: of an operation, the object of the wire
 * @throws DomainError, which the audit has recorded; ClientGone
 */
export function call<Output extends object, Input extends object, By extends AnyCaller>(
  context: CallContext,
  action: Action<Output, Input, By>,
  // Only the action says what is read and who calls.
  steps: CallSteps<Output, NoInfer<Input>, NoInfer<By>>,
): Promise<Output> {
  if (context.traceCall === undefined) return runSteps<Output, Input, By>(context, action, steps);
  const run = () => runSteps<Output, Input, By>(context, action, steps);
  return context.traceCall(action.name, steps.record, run);
}

async function runSteps<Output extends object, Input extends object, By extends AnyCaller>(
  { service, limits, intercept }: CallContext,
  requested: Action<Output, Input, By>,
  steps: CallSteps<Output, Input, By>,
): Promise<Output> {
  const { request, record, by = actorOf(requested.caller), os_user } = steps;
  let action = requested;
  record.action = action.name;
  let caller: By | null = null;
  let ids: AuditedIds = {};

  try {
    let authenticated = await steps.authenticate();
    const isFirstUse = authenticated.kind === 'grant' && authenticated.first_used_at === null;
    caller = authenticated;
    if (authenticated.kind === 'operator') {
      record.admin_secret = authenticated.admin_secret ?? undefined;
    }
    ids = idsOfCaller(authenticated);
    record.application_id = ids.application_id;

    const input = await steps.readInput();
    // Whatever was disabled or removed before the last byte arrived holds for this call.
    if (request.waitedForBody && steps.authenticatesInBody !== true) {
      authenticated = await steps.authenticate();
      caller = authenticated;
    }
    action = steps.chooseAction?.(input) ?? requested;
    record.action = action.name;

    let valid: object = input;
    if (steps.validateInput !== undefined) valid = await steps.validateInput(input);
    else if (action.input !== null) valid = validate(action.input, input);
    noteIds(ids, valid, action.inputIds);

    const handle = async (): Promise<Output> => {
      countCall(limits, action, authenticated);
      try {
        if (action.changes) service.audit.beforeChange(by);
        const initiator: Initiator = {
          request_id: request.recorded.request_id,
          by,
          secret_id: authenticated.kind === 'application' ? authenticated.secret_id : null,
          ...(os_user !== undefined && { os_user }),
        };
        const details = { publicUrl: request.publicUrl, ids };
        // The schema of an action returns what its handler takes.
        return await action.handle(service, valid as Input, authenticated, initiator, details);
      } catch (error) {
        countFailure(limits, action, authenticated, error);
        throw error;
      }
    };
    const breakConnection = () => void request.response?.destroy();
    // What wraps a call returns what the call returns.
    const output = await (intercept === undefined
      ? handle()
      : (intercept({ operation: action.name, breakConnection }, handle) as Promise<Output>));

    noteIds(ids, output, action.outputIds);
    const { recorded } = action;
    if (recorded === 'always' || (recorded === 'first_use' && isFirstUse)) {
      service.audit.done(auditedCall(by));
    }
    return output;
  } catch (failure) {
    if (failure instanceof ClientGone) throw failure;
    const error = limitFailure(limits, caller, request.address, DomainError.from(failure));
    record.error_code = error.code;
    ids = { ...error.subject, ...grantIn(error.members), ...ids };
    // A store that is unavailable would not take the refusal either, and the command would wait a
    // second time.
    const isPointless = by === 'command_line' && error.code === 'store_unavailable';
    // Whoever has shown no credential is nobody.
    const isNobody = caller === null || caller.kind === 'visitor';
    if (!isPointless) service.audit.refused(auditedCall(isNobody ? null : by), error);
    throw error;
  } finally {
    record.grant_id = ids.grant_id;
  }

  function auditedCall(by: Actor | null): AuditedCall {
    const { admin_secret } = record;
    return { action: action.name, by, ids, admin_secret, os_user, ...request.recorded };
  }
}

function actorOf(kind: CallerKind): Actor {
  return kind === 'visitor' ? 'user' : kind;
}

/** What the audit has of a caller. */
function idsOfCaller(caller: AnyCaller): AuditedIds {
  switch (caller.kind) {
    case 'application': {
      const { application, secret_id } = caller;
      return { application_id: application.id, ...(secret_id !== null && { secret_id }) };
    }
    case 'grant': {
      const { application_id, grant_id } = caller.grant;
      return { application_id, grant_id };
    }
    case 'user': {
      const { page, access } = caller;
      return {
        account_id: page.account_id,
        ...(access !== null && { link_id: access.link.id, application_id: access.application.id }),
      };
    }
    case 'operator':
    case 'visitor':
      return {};
  }
}

function grantIn({ grant_id }: DomainError['members']): AuditedIds {
  return grant_id === undefined ? {} : { grant_id };
}

/** Adds the ids that an input or an output has at these paths. */
function noteIds(ids: AuditedIds, members: object, paths: IdPaths): void {
  for (const [name, path] of Object.entries(paths)) {
    let value: unknown = members;
    for (const member of path.split('.'))
      value = (value as Record<string, unknown> | null)?.[member];
    if (typeof value === 'string') ids[name as keyof AuditedIds] = value;
  }
}
