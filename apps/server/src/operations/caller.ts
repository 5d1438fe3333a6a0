import type { AuthenticatedApplication } from '@latchkey/rules/applications/authenticate-application';
import type { PageSession } from '@latchkey/rules/linking/page-session';
import type { OperationName, Operations } from '@latchkey/schema';
import type { GrantAuthentication, KeyRecord } from '@latchkey/store/records';

export interface Callers {
  application: AuthenticatedApplication & { readonly kind: 'application' };
  grant: GrantAuthentication & { readonly kind: 'grant' };
  operator: Operator;
  user: PageSession & { readonly kind: 'user' };
  visitor: Visitor;
}

/** Has ADMIN_SECRET or a key. A call from inside the process needs neither. */
export interface Operator {
  readonly kind: 'operator';
  readonly admin_secret: 'current' | 'previous' | null;
  readonly key: Pick<KeyRecord, 'id' | 'name' | 'role'> | null;
}

export interface Visitor {
  readonly kind: 'visitor';
  /** New link requests are limited by it; null once this one was counted. */
  address_key: string | null;
}

export type CallerKind = keyof Callers;
export type AnyCaller = Callers[CallerKind];

export type CallerOf<Name extends OperationName> = Callers[Operations[Name]['caller']];

export const operatorWithoutSecret: Operator = {
  kind: 'operator',
  admin_secret: null,
  key: null,
};
