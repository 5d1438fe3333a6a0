import type { ErrorCode } from '@latchkey/schema';
import type { AuditedIds } from '../audit/audit.ts';
import { DomainError } from '../domain-error.ts';
import type { ActionName, Actor, Initiator } from '../initiator.ts';
import type { Limits } from '../limits/limits.ts';
import type { PageSession } from '../linking/page-session.ts';
import type { Service } from '../service.ts';
import type { Action } from './action.ts';
import { limitFailure, withinLimits } from './call-limits.ts';
import type { AnyCaller } from './handler.ts';
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

/** The steps of a call that differ between REST, tRPC and the command line. */
export interface CallSteps {
  authenticate(): Promise<AnyCaller>;
  /** Returns the members of the input. Runs once the caller is known. */
  readInput(): Promise<object>;
  /** Whether reading the input had to wait for the client. Default: it had not. */
  waitedForInput?(): boolean;
  /**
   * Tells which action an input is for, if several share a route. Default: the one of the call.
   *
   * @throws DomainError if the input is for none
   */
  chooseAction?(input: object): Action;
  /**
   * Validates the input and passes the result to `next`. Default: the operation's schema. tRPC
   * validates in its procedure.
   */
  validateInput?(input: object, next: (valid: object) => Promise<object>): Promise<object>;
  /** The parts of the request that may be kept: neither contains a credential. */
  request: { request_id: string; address: string | null };
  /** The address that a failed call of a public application counts against. Default: unknown. */
  address?: string | undefined;
  /** Base of the links in the output, without a trailing slash. Default: none, so the output has none. */
  publicUrl?: string;
  /** Who acts once the caller is authenticated. Default: the kind of caller the operation takes. */
  by?: Actor;
  /** At the command line: the user of the operating system. */
  os_user?: string;
  record: CallRecord;
  /** Closes the client's connection without a response. */
  breakConnection?(): void;
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

export const passThrough: Intercept = (_call, handle) => handle();

/** Runs a call in a span of its own. */
export type TraceCall = (
  operation: ActionName,
  record: CallRecord,
  run: () => Promise<object>,
) => Promise<object>;

/** What every call works with. */
export interface CallContext {
  service: Service;
  limits: Limits;
  intercept: Intercept;
  /** Default: calls have no spans. */
  traceCall?: TraceCall | undefined;
}

/**
 * Runs one call of an operation, with its steps in the order of the contract: authenticate, read
 * the input, validate it, apply the application's limits, handle, audit.
 *
 * @returns the object of the wire
 * @throws DomainError, which the audit has recorded; ClientGone
 */
export function call<Output extends object>(
  context: CallContext,
  action: Action<Output>,
  steps: CallSteps,
): Promise<Output> {
  // What wraps a call returns what the call returns.
  const run = () => runSteps(context, action, steps) as Promise<Output>;
  if (context.traceCall === undefined) return run();
  return context.traceCall(action.name, steps.record, run) as Promise<Output>;
}

async function runSteps(
  { service, limits, intercept }: CallContext,
  requested: Action,
  steps: CallSteps,
): Promise<object> {
  const { request, record, by = requested.caller, os_user, breakConnection = () => {} } = steps;
  let action = requested;
  record.action = action.name;
  let caller: AnyCaller | null = null;
  let ids: AuditedIds = {};
  const auditedCall = () => ({
    action: action.name,
    by: caller === null ? null : by,
    ids,
    admin_secret: record.admin_secret,
    os_user,
    ...request,
  });

  try {
    let authenticated = await steps.authenticate();
    const isFirst = isFirstUse(authenticated);
    caller = authenticated;
    if ('admin_secret' in authenticated)
      record.admin_secret = authenticated.admin_secret ?? undefined;
    ids = idsOfCaller(authenticated);
    record.application_id = ids.application_id;

    const input = await steps.readInput();
    // Whatever was disabled or removed before the last byte arrived holds for this call.
    if (steps.waitedForInput?.()) {
      authenticated = await steps.authenticate();
      caller = authenticated;
    }
    action = steps.chooseAction?.(input) ?? requested;
    record.action = action.name;

    const handle = (valid: object): Promise<object> => {
      Object.assign(ids, idsIn(valid));
      const initiator: Initiator = {
        request_id: request.request_id,
        by,
        secret_id: secretOf(authenticated),
        ...(os_user !== undefined && { os_user }),
      };
      return intercept({ operation: action.name, breakConnection }, () =>
        withinLimits(limits, action.name, authenticated, () => {
          if (!isRead(action)) service.audit.beforeChange(by);
          return action.handle(service, valid, authenticated, initiator, {
            publicUrl: steps.publicUrl ?? '',
            noteIds: (found) => void Object.assign(ids, found),
          });
        }),
      );
    };
    const output = await (steps.validateInput === undefined
      ? handle(validate(action.input, input))
      : steps.validateInput(input, handle));

    Object.assign(ids, idsIn(output));
    // What a user was shown is recorded too.
    const isRecorded = action.method !== 'GET' || isFirst || by === 'user';
    if (isRecorded) service.audit.done(auditedCall());
    return output;
  } catch (failure) {
    if (failure instanceof ClientGone) throw failure;
    const error = limitFailure(limits, caller, steps.address, DomainError.from(failure));
    record.error_code = error.code;
    ids = { ...error.subject, ...grantIn(error.members), ...ids };
    // Whoever has shown no credential is nobody.
    if (caller !== null && 'address_key' in caller) caller = null;
    // A store that is unavailable would not take the refusal either, and the command would wait a
    // second time.
    const isPointless = by === 'command_line' && error.code === 'store_unavailable';
    if (!isPointless) service.audit.refused(auditedCall(), error);
    throw error;
  } finally {
    record.grant_id = ids.grant_id;
  }
}

function isRead({ method, readOnly = method === 'GET' }: Action): boolean {
  return readOnly;
}

function secretOf(caller: AnyCaller): string | null {
  return 'secret_id' in caller ? caller.secret_id : null;
}

/** The first use of a grant is recorded, even by a call that only reads. */
function isFirstUse(caller: AnyCaller): boolean {
  return 'grant' in caller && caller.first_used_at === null;
}

function idsOfCaller(caller: AnyCaller): AuditedIds {
  if ('admin_secret' in caller || 'address_key' in caller) return {};
  if ('page' in caller) return idsOfPage(caller);
  if ('secret_id' in caller) {
    const { application, secret_id } = caller;
    return { application_id: application.id, ...(secret_id !== null && { secret_id }) };
  }
  return { application_id: caller.grant.application_id, grant_id: caller.grant.grant_id };
}

function idsOfPage({ page, access }: PageSession): AuditedIds {
  return {
    account_id: page.account_id,
    ...(access !== null && { link_id: access.link.id, application_id: access.application.id }),
  };
}

function grantIn({ grant_id }: DomainError['members']): AuditedIds {
  return grant_id === undefined ? {} : { grant_id };
}

const idNames = ['application_id', 'secret_id', 'grant_id', 'account_id', 'link_id'] as const;

/** Which id the `id` of a wire object is. */
const idNameByObject: Record<string, keyof AuditedIds> = {
  application: 'application_id',
  application_secret: 'secret_id',
  service_account: 'account_id',
  account_erasure: 'account_id',
  link_request: 'link_id',
};

type Members = { [Name in keyof AuditedIds]?: string | null } & {
  object?: unknown;
  id?: unknown;
  application?: { id: string };
};

/** The ids in an input or an output. */
function idsIn(members: Members): AuditedIds {
  const found: AuditedIds = {};
  for (const name of idNames) {
    const id = members[name];
    if (typeof id === 'string') found[name] = id;
  }
  const application_id = members.application?.id;
  if (application_id !== undefined) found.application_id = application_id;
  const own = idNameByObject[String(members.object)];
  if (own !== undefined && typeof members.id === 'string') found[own] = members.id;
  return found;
}
