import { accountSubject, DomainError } from '@latchkey/domain/domain-error';
import type { ActionName, Actor, Initiator } from '@latchkey/domain/initiator';
import type { AuditedCall, AuditedIds } from '@latchkey/rules/audit/audit';
import type { Limits } from '@latchkey/rules/limits/limits';
import type { Service } from '@latchkey/rules/service';
import type { ErrorCode } from '@latchkey/schema';
import type { Action, ActionChoice, ActionColumns } from './action.ts';
import {
  countCall,
  countFailure,
  countFruitless,
  isProven,
  limitFailure,
  noteLink,
} from './call-limits.ts';
import type { AnyCaller } from './caller.ts';
import { parameterInvalid } from './input.ts';

export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}

/** What the access log, the metrics and the trace record of a call. */
export interface CallSummary {
  action?: ActionName;
  application_id?: string | undefined;
  grant_id?: string | undefined;
  admin_secret?: 'current' | 'previous' | undefined;
  key_id?: string | undefined;
  error_code?: ErrorCode;
}

export interface CallRequest {
  /** For the log and the audit: contains no credential. */
  readonly redacted: { request_id: string; address: string | null };
  /** Failures count against it. */
  readonly address: string | undefined;
  readonly publicUrl: () => string;
  /** The body arrived while the request was handled. */
  readonly waitedForBody: boolean;
  readonly response: { destroy(): unknown } | null;
}

export interface CallSteps<Input extends object = object, By extends AnyCaller = AnyCaller> {
  readonly authenticate: () => Promise<By>;
  readonly readInput: () => Promise<Input>;
  /** The credentials are in the body, so they are checked after its last byte. */
  readonly authenticatesInBody?: boolean;
  readonly validateInput?: (input: Input) => Promise<object>;
  readonly request: CallRequest;
  readonly summary: CallSummary;
  readonly by?: Actor;
  readonly os_user?: string;
}

/** The caller is authenticated and the input is valid. */
interface InterceptedCall {
  operation: ActionName;
  /** The call still completes. */
  breakConnection(): void;
}

/** Wraps every call. Tests use it to make a call fail or to lose its response. */
export type Intercept = (call: InterceptedCall, handle: () => Promise<object>) => Promise<object>;

export type TraceCall = <Output>(
  operation: ActionName,
  summary: CallSummary,
  run: () => Promise<Output>,
) => Promise<Output>;

export interface CallContext {
  service: Service;
  limits: Limits;
  intercept?: Intercept | undefined;
  traceCall?: TraceCall | undefined;
}

/** `docs/protocol/README.md#order-of-checks` */
export async function call<Output extends object, Input extends object, By extends AnyCaller>(
  context: CallContext,
  requested: Action<Output, Input, By> | ActionChoice<Output, Input, By>,
  // Only the action says what is read and who calls.
  steps: CallSteps<NoInfer<Input>, NoInfer<By>>,
): Promise<Output> {
  const { service, limits, intercept, traceCall } = context;
  if (traceCall !== undefined) {
    const run = () => call({ ...context, traceCall: undefined }, requested, steps);
    return traceCall(requested.name, steps.summary, run);
  }
  const { request, summary, os_user } = steps;
  const { by = requested.caller === 'visitor' ? 'user' : requested.caller } = steps;
  summary.action = requested.name;
  let caller: By | null = null;
  const record: AuditedCall = {
    ...{ action: requested.name, by, ids: {}, admin_secret: undefined, changes: false, os_user },
    ...request.redacted,
  };

  try {
    let authenticated = await steps.authenticate();
    const isFirstUse = authenticated.kind === 'grant' && authenticated.first_used_at === null;
    caller = authenticated;
    record.ids = idsOfCaller(authenticated);
    summary.application_id = record.ids.application_id;
    if (authenticated.kind === 'operator') {
      const { admin_secret, key } = authenticated;
      record.admin_secret = admin_secret ?? undefined;
      summary.admin_secret = record.admin_secret;
      summary.key_id = key?.id;
      // The secret has every right; a key has those of its role.
      if (key !== null && !requested.roles?.includes(key.role)) {
        throw new DomainError('right_missing');
      }
    }

    const input = await steps.readInput();
    // The secret or the application may have been disabled or removed before the last byte arrived.
    if (request.waitedForBody && steps.authenticatesInBody !== true) {
      authenticated = await steps.authenticate();
      caller = authenticated;
    }
    const action = 'choose' in requested ? requested.choose(input) : requested;
    Object.assign(record, { action: action.name, changes: action.changes });
    summary.action = action.name;

    let valid: object = input;
    if (steps.validateInput !== undefined) valid = await steps.validateInput(input);
    else if (action.input !== null) {
      const parsed = action.input.safeParse(input);
      if (!parsed.success) throw parameterInvalid(parsed.error);
      valid = parsed.data;
    }
    noteIds(record.ids, action, 'input', valid);

    const handle = async (): Promise<Output> => {
      const { counts } = action;
      if (counts !== 'nothing') countCall(limits, counts, authenticated);
      try {
        if (action.changes) service.audit.beforeChange(by);
        const { key_id } = summary;
        const initiator: Initiator = {
          request_id: request.redacted.request_id,
          by,
          secret_id: authenticated.kind === 'application' ? authenticated.secret_id : null,
          ...(key_id !== undefined && { key_id }),
          ...(os_user !== undefined && { os_user }),
        };
        const details = {
          publicUrl: request.publicUrl,
          ids: record.ids,
          countFruitless: () => countFruitless(limits, authenticated, request.address),
        };
        // The schema of an action returns what its handler takes.
        return await action.handle(service, valid as Input, authenticated, initiator, details);
      } catch (error) {
        if (counts !== 'nothing') countFailure(limits, counts, authenticated, error);
        throw error;
      }
    };
    const breakConnection = () => void request.response?.destroy();
    // An interceptor returns what the call returns.
    const output = await (intercept === undefined
      ? handle()
      : (intercept({ operation: action.name, breakConnection }, handle) as Promise<Output>));

    noteIds(record.ids, action, 'output', output);
    const { audited } = action;
    const isAudited = audited === 'always' || (audited === 'first_use' && isFirstUse);
    afterCall(context, steps, { record, caller, isAudited, error: null });
    return output;
  } catch (failure) {
    if (failure instanceof ClientGone) throw failure;
    const error = limitFailure(limits, caller, request.address, DomainError.from(failure));
    afterCall(context, steps, { record, caller, isAudited: true, error });
    throw error;
  } finally {
    summary.grant_id = record.ids.grant_id;
  }
}

interface Outcome {
  record: AuditedCall;
  caller: AnyCaller | null;
  isAudited: boolean;
  error: DomainError | null;
}

/** Tells the audit, the counts and the limits what happened. None of it is part of the response. */
function afterCall(
  { service, limits }: CallContext,
  { request, summary }: Pick<CallSteps, 'request' | 'summary'>,
  { record, caller, isAudited, error }: Outcome,
): void {
  const { action, by, ids } = record;
  if (error === null) {
    if (ids.link_id !== undefined) noteLink(limits, action, ids.link_id, request.address);
    if (isAudited) service.audit.done(record);
    return;
  }
  summary.error_code = error.code;
  const { claimed_application_id, ...subject } = error.subject;
  record.ids = {
    ...(claimed_application_id !== undefined && { application_id: claimed_application_id }),
    ...{ ...subject, ...grantIn(error.members), ...ids },
  };
  if (caller === null || caller.kind === 'visitor') record.by = null;
  const isKnown = isProven(caller);
  // An unavailable store would not take the refusal either, and the command would wait twice.
  const isPointless = by === 'command_line' && error.code === 'store_unavailable';
  const isKept = !isPointless && service.audit.refused(record, error, isKnown);
  // A stranger can name any application. So the refusal of a stranger counts only if it is kept.
  if (namesKnownApplication(error, caller, ids) && (isKept || isKnown)) {
    service.counts.add(`refused:${error.code}:${error.reason ?? '-'}`);
  }
}

function idsOfCaller(caller: AnyCaller): AuditedIds {
  switch (caller.kind) {
    case 'application': {
      const { application, secret_id } = caller;
      return { application_id: application.id, ...(secret_id !== null && { secret_id }) };
    }
    case 'grant': {
      const { application_id, grant_id } = caller.grant;
      return { application_id, grant_id, ...accountSubject(caller.account?.id) };
    }
    case 'user': {
      const { page, access } = caller;
      return {
        account_id: page.account_id,
        ...(access !== null && {
          link_id: access.link.id,
          ...(access.application.id !== null && { application_id: access.application.id }),
        }),
      };
    }
    case 'operator':
      return caller.key === null ? {} : { key_id: caller.key.id };
    case 'visitor':
      return {};
  }
}

// These can come before the look-up of the application, so its id may be wrong.
const BEFORE_LOOK_UP: ReadonlySet<ErrorCode> = new Set([
  'parameter_invalid',
  'application_not_found',
  'store_unavailable',
  'internal_error',
]);

function namesKnownApplication(
  { code, reason, subject }: DomainError,
  caller: AnyCaller | null,
  ids: AuditedIds,
): boolean {
  if (reason === 'application_deleted') return false;
  const known = subject.application_id ?? (caller && idsOfCaller(caller).application_id);
  if (known != null) return true;
  const isLookedUp = caller?.kind === 'operator' && !BEFORE_LOOK_UP.has(code);
  return isLookedUp && ids.application_id !== undefined;
}

function grantIn({ grant_id }: DomainError['members']): AuditedIds {
  return grant_id === undefined ? {} : { grant_id };
}

function noteIds(
  ids: AuditedIds,
  { ids: paths }: ActionColumns,
  of: 'input' | 'output',
  members: object,
): void {
  for (const [name, path] of Object.entries(paths)) {
    let value: unknown = { [of]: members };
    for (const member of path.split('.'))
      value = (value as Record<string, unknown> | null | undefined)?.[member];
    if (typeof value === 'string') ids[name as keyof AuditedIds] = value;
  }
}
