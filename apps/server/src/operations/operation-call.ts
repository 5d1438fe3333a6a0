import type { OperationName } from '@latchkey/schema';
import type { AuditedCall, AuditedIds } from '../audit/audit.ts';
import type { DomainError, ErrorMembers } from '../domain-error.ts';
import type { Actor, Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import type { AnyCaller } from './caller.ts';
import type { Operation } from './operation.ts';

/**
 * One call of an operation, from whichever wire: does it, and tells the audit what came of it.
 */
export class OperationCall {
  readonly #operation: Operation;
  readonly #service: Service;
  readonly #request: { request_id: string; address: string | null };
  #caller: AnyCaller | null = null;
  #by: Actor | null = null;
  #ids: AuditedIds = {};

  /**
   * @param request - what may be kept of it: no credential that its sender may have put there
   */
  constructor(
    service: Service,
    operation: Operation,
    request: { request_id: string; address: string | null },
  ) {
    this.#service = service;
    this.#operation = operation;
    this.#request = request;
  }

  /** Who calls, once that is known. */
  authenticated(caller: AnyCaller, by: Actor = this.#operation.caller): void {
    this.#caller = caller;
    this.#by = by;
    this.#ids = idsOfCaller(caller);
  }

  get operation(): OperationName {
    return this.#operation.name;
  }

  /** The application that calls, or whose grant does; null for the operator, and for nobody yet. */
  get caller_application_id(): string | null {
    return (this.#caller && idsOfCaller(this.#caller).application_id) ?? null;
  }

  /** The grant that the call is about, as far as is known. */
  get grant_id(): string | undefined {
    return this.#ids.grant_id;
  }

  /**
   * Does what the operation is for.
   *
   * @param input - validated
   */
  async perform(input: object): Promise<object> {
    if (this.#caller === null || this.#by === null) throw new Error('Nobody was authenticated.');
    Object.assign(this.#ids, idsIn(input));
    const origin: Origin = {
      request_id: this.#request.request_id,
      by: this.#by,
      secret_id: secretOf(this.#caller),
    };
    const output = await this.#operation.handle(this.#service, input, this.#caller, origin);
    Object.assign(this.#ids, idsIn(output));
    if (this.#operation.method !== 'GET' || isFirstUse(this.#caller)) {
      this.#service.audit.done(this.#audited);
    }
    return output;
  }

  /** Tells the audit that the call was refused, wherever it failed. */
  refused(error: DomainError): void {
    this.#ids = { ...error.subject, ...grantIn(error.members), ...this.#ids };
    this.#service.audit.refused(this.#audited, error);
  }

  get #audited(): AuditedCall {
    return { action: this.#operation.name, by: this.#by, ids: this.#ids, ...this.#request };
  }
}

function secretOf(caller: AnyCaller): string | null {
  return typeof caller === 'object' && 'secret_id' in caller ? caller.secret_id : null;
}

/** A read writes something where it is the first that a grant's secret is used for. */
function isFirstUse(caller: AnyCaller): boolean {
  return typeof caller === 'object' && 'grant' in caller && caller.first_used_at === null;
}

function idsOfCaller(caller: AnyCaller): AuditedIds {
  if (caller === 'operator') return {};
  if ('secret_id' in caller) {
    return { application_id: caller.application.id, secret_id: caller.secret_id };
  }
  return { application_id: caller.grant.application_id, grant_id: caller.grant.grant_id };
}

function grantIn({ grant_id }: ErrorMembers): AuditedIds {
  return grant_id === undefined ? {} : { grant_id };
}

const ids = ['application_id', 'secret_id', 'grant_id', 'account_id'] as const;

/** What the id of an object of the wire is to the audit. */
const idByObject: Record<string, keyof AuditedIds> = {
  application: 'application_id',
  application_secret: 'secret_id',
  service_account: 'account_id',
};

/** The ids in an input or an output. */
function idsIn(members: { object?: unknown; id?: unknown } & AuditedIds): AuditedIds {
  const found: AuditedIds = {};
  for (const name of ids) {
    const id = members[name];
    if (id !== undefined) found[name] = id;
  }
  const own = idByObject[String(members.object)];
  if (own !== undefined && typeof members.id === 'string') found[own] = members.id;
  return found;
}
