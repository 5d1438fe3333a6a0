import type { ErrorCode as ErrorCodeOfTheService, OperationOutput } from '@latchkey/schema';
import { expectTypeOf, test } from 'vitest';
import {
  type Account,
  type AuthenticationError,
  type CallOptions,
  type CodeAlreadyUsedError,
  CodeExpiredError,
  ConnectionError,
  type ConvertOptions,
  type ErrorCode,
  type Fetch,
  type FullGrant,
  type GrantDescription,
  type InvalidRequestError,
  isLatchkeyError,
  Latchkey,
  LatchkeyError,
  type LatchkeyOptions,
  type Logger,
  type OutcomeUnknownError,
  type ParameterIssue,
  type RevokedGrant,
  TimeoutError,
  type UnexpectedResponseError,
  type WithRequestId,
} from './index.ts';

// Compiled, not run: what a user's editor and compiler may rely on.

test('an operation takes a text, and returns what the service’s contract says', () => {
  type Signature<Output> = (
    argument: string,
    options?: CallOptions,
  ) => Promise<WithRequestId<Output>>;
  expectTypeOf<Latchkey['convert']>().toEqualTypeOf<
    (code: string, options?: ConvertOptions) => Promise<WithRequestId<FullGrant>>
  >();
  expectTypeOf<Latchkey['revoke']>().toEqualTypeOf<Signature<RevokedGrant>>();
  expectTypeOf<Latchkey['account']>().toEqualTypeOf<Signature<Account>>();
  expectTypeOf<Latchkey['grant']>().toEqualTypeOf<Signature<GrantDescription>>();

  expectTypeOf<FullGrant>().toEqualTypeOf<OperationOutput<'grants.convert'>>();
  expectTypeOf<RevokedGrant>().toEqualTypeOf<OperationOutput<'grants.revoke'>>();
  expectTypeOf<Account>().toEqualTypeOf<OperationOutput<'account.get'>>();
  expectTypeOf<GrantDescription>().toEqualTypeOf<OperationOutput<'account.grant'>>();
});

test('a client offers its operations and nothing else', () => {
  expectTypeOf<keyof Latchkey>().toEqualTypeOf<
    'convert' | 'revoke' | 'recover' | 'account' | 'grant'
  >();
});

test('the codes are those of the service', () => {
  expectTypeOf<ErrorCode>().toEqualTypeOf<ErrorCodeOfTheService>();
});

test('options', () => {
  // Everything may come from the environment.
  expectTypeOf<[]>().toExtend<ConstructorParameters<typeof Latchkey>>();
  // @ts-expect-error there is no such option
  new Latchkey({ baseUrl: '', applicationSecret: '', retries: 3 });
  expectTypeOf<Console>().toExtend<Logger>();

  // Variables of the environment, which may be unset.
  const undecided: LatchkeyOptions = {
    baseUrl: undefined,
    applicationSecret: undefined,
    timeoutMs: undefined,
    maxRetries: undefined,
    fetch: undefined,
    logger: undefined,
    userAgent: undefined,
    dangerouslyAllowBrowser: undefined,
  };
  expectTypeOf(undecided).toExtend<LatchkeyOptions>();
  expectTypeOf<typeof globalThis.fetch>().toExtend<Fetch>();
  expectTypeOf<{ signal: AbortSignal | undefined }>().toExtend<CallOptions>();
});

test('a result is the service’s object, and knows its request', () => {
  expectTypeOf<WithRequestId<FullGrant>>().toExtend<FullGrant>();
  expectTypeOf<WithRequestId<Account>['requestId']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<FullGrant>().not.toHaveProperty('requestId');
});

test('what came with a text of the wrong kind is not a code', () => {
  const latchkey = {} as Latchkey;
  // @ts-expect-error a query parameter may be missing
  latchkey.convert(new URLSearchParams().get('code'));
  // @ts-expect-error the grant's id or its secret, not the grant
  latchkey.account({} as FullGrant);
});

test('an error narrows to its class, and out of it again', () => {
  const error = {} as LatchkeyError;
  // Were the classes alike in structure, this would leave nothing of the error.
  if (error instanceof CodeExpiredError) return;
  expectTypeOf(error).toEqualTypeOf<LatchkeyError>();
  if (error instanceof TimeoutError) return;
  if (error instanceof ConnectionError) {
    expectTypeOf(error.maybeSent).toEqualTypeOf<boolean>();
    return;
  }
  expectTypeOf(error.message).toEqualTypeOf<string>();

  const anything: unknown = error;
  if (isLatchkeyError(anything)) expectTypeOf(anything).toEqualTypeOf<LatchkeyError>();
});

test('a name tells a class apart, where instanceof cannot', () => {
  const error = {} as CodeAlreadyUsedError | AuthenticationError | UnexpectedResponseError;
  if (error.name === 'CodeAlreadyUsedError') {
    expectTypeOf(error.grant_id).toEqualTypeOf<string>();
  }
});

test('members of errors', () => {
  expectTypeOf<CodeAlreadyUsedError['grant_id']>().toEqualTypeOf<string>();
  expectTypeOf<OutcomeUnknownError['grant_id']>().toEqualTypeOf<string>();
  expectTypeOf<InvalidRequestError['issues']>().toEqualTypeOf<
    readonly ParameterIssue[] | undefined
  >();
  expectTypeOf<LatchkeyError['status']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<LatchkeyError['retryAfter']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<LatchkeyError['recoveryErrors']>().toEqualTypeOf<
    readonly LatchkeyError[] | undefined
  >();
  expectTypeOf<'code_expired'>().toExtend<LatchkeyError['errorCode']>();
  expectTypeOf<'of_a_newer_service'>().toExtend<LatchkeyError['errorCode']>();
  // @ts-expect-error errors are read, not written
  new LatchkeyError('').status = 400;
});
