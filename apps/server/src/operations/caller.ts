import type { Caller, OperationName, Operations } from '@latchkey/schema';
import type { AuthenticatedApplication } from '../applications/authenticate-application.ts';
import type { GrantAuthentication } from '../store/records.ts';

/** Who is calling, once authenticated. */
export interface Callers {
  application: AuthenticatedApplication;
  grant: GrantAuthentication;
  operator: 'operator';
}

/** Who calls an operation. */
export type CallerOf<Name extends OperationName> = Callers[Operations[Name]['caller']];

export type AnyCaller = Callers[Caller];
