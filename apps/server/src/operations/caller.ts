import type { OperationName, Operations } from '@latchkey/schema';
import type { AuthenticatedApplication } from '../applications/authenticate-application.ts';
import type { PageSession } from '../linking/page-session.ts';
import type { GrantAuthentication } from '../store/records.ts';

/** What authentication returns, by the kind of caller. */
export interface Callers {
  application: AuthenticatedApplication & { readonly kind: 'application' };
  grant: GrantAuthentication & { readonly kind: 'grant' };
  operator: Operator;
  /** A user who has one of our pages open. */
  user: PageSession & { readonly kind: 'user' };
  visitor: Visitor;
}

/** The operator, and which secret was used; null inside of the process, where none is needed. */
export interface Operator {
  readonly kind: 'operator';
  readonly admin_secret: 'current' | 'previous' | null;
}

/** Somebody in a browser who has shown no credential. */
export interface Visitor {
  readonly kind: 'visitor';
  /** By which new link requests are limited. */
  readonly address_key: string;
}

export type CallerKind = keyof Callers;
export type AnyCaller = Callers[CallerKind];

/** Who calls an operation. */
export type CallerOf<Name extends OperationName> = Callers[Operations[Name]['caller']];

/** The inside of the process acts as the operator without a secret. */
export const operatorWithoutSecret: Operator = { kind: 'operator', admin_secret: null };
