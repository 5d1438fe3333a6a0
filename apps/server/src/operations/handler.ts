import type {
  Caller,
  OperationName,
  OperationOutput,
  Operations,
  ValidatedInput,
} from '@latchkey/schema';
import type { AuthenticatedApplication } from '../applications/authenticate-application.ts';
import type { AuditedIds } from '../audit/audit.ts';
import type { Initiator } from '../initiator.ts';
import type { PageSession } from '../linking/page-session.ts';
import type { Service } from '../service.ts';
import type { GrantAuthentication } from '../store/records.ts';

/** The operator, and which secret was used; null at the command line, which needs none. */
export interface AuthenticatedOperator {
  admin_secret: 'current' | 'previous' | null;
}

/** What authentication returns, by kind of caller. */
export interface Callers {
  application: AuthenticatedApplication;
  grant: GrantAuthentication;
  operator: AuthenticatedOperator;
}

export type CallerOf<Name extends OperationName> = Callers[Operations[Name]['caller']];

/** Somebody in a browser who has shown no credential. */
export interface Visitor {
  /** By which new link requests are limited. */
  address_key: string;
}

export type AnyCaller = Callers[Caller] | Visitor | PageSession;

/** What a handler knows of its call, and tells about it, besides its input and its output. */
export interface CallDetails {
  /** Base of links, without a trailing slash. */
  publicUrl: string;
  /** Tells the audit what the call was about, where neither its input nor its output does. */
  noteIds(ids: AuditedIds): void;
}

/**
 * Carries out an operation. Gets a validated input and an authenticated caller; returns the object of
 * the wire or throws a DomainError.
 */
export type Handler<Name extends OperationName> = (
  service: Service,
  input: ValidatedInput<Name>,
  caller: CallerOf<Name>,
  initiator: Initiator,
  details: CallDetails,
) => Promise<OperationOutput<Name>>;

export type Handlers<Names extends OperationName = OperationName> = {
  [Name in Names]: Handler<Name>;
};
