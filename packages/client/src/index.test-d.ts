import type { OperationOutput } from '@latchkey/schema';
import type { Logger as PinoLogger } from 'pino';
import { expectTypeOf, test } from 'vitest';
import {
  type Account,
  type AnyLatchkeyError,
  type Authorization,
  type AuthorizationUrlOptions,
  type CallOptions,
  type CodeAlreadyUsedError,
  CodeExpiredError,
  ConnectionError,
  type ConvertOptions,
  type Fetch,
  type FinishLinkingOptions,
  type FullGrant,
  type GrantDescription,
  type Introspection,
  type InvalidRequestError,
  isLatchkeyError,
  Latchkey,
  type LatchkeyError,
  type LatchkeyErrorName,
  type LatchkeyOptions,
  type Logger,
  type OutcomeUnknownError,
  type ParameterIssue,
  type ResponseDetails,
  type RevokedGrant,
  ServerError,
  TimeoutError,
  type WithResponse,
} from './index.ts';

// Compiled, not run: the types that a user's editor and compiler rely on.

test('an operation takes a string, and returns what the service’s contract says', () => {
  type Signature<Output> = (
    argument: string,
    options?: CallOptions,
  ) => Promise<WithResponse<Output>>;
  expectTypeOf<Latchkey['convert']>().toEqualTypeOf<
    (code: string, options?: ConvertOptions) => Promise<WithResponse<FullGrant>>
  >();
  expectTypeOf<Latchkey['revoke']>().toEqualTypeOf<Signature<RevokedGrant>>();
  expectTypeOf<Latchkey['account']>().toEqualTypeOf<Signature<Account>>();
  expectTypeOf<Latchkey['grant']>().toEqualTypeOf<Signature<GrantDescription>>();
  expectTypeOf<Latchkey['introspect']>().toEqualTypeOf<Signature<Introspection>>();
  expectTypeOf<Latchkey['revokeToken']>().toEqualTypeOf<
    (grantSecret: string, options?: CallOptions) => Promise<void>
  >();
  expectTypeOf<Latchkey['authorizationUrl']>().toEqualTypeOf<
    (options: AuthorizationUrlOptions) => Promise<Authorization>
  >();
  expectTypeOf<Latchkey['finishLinking']>().toEqualTypeOf<
    (callbackUrl: string | URL, options: FinishLinkingOptions) => Promise<WithResponse<FullGrant>>
  >();

  expectTypeOf<FullGrant>().toEqualTypeOf<OperationOutput<'grants.convert'>>();
  expectTypeOf<RevokedGrant>().toEqualTypeOf<OperationOutput<'grants.revoke'>>();
  expectTypeOf<Account>().toEqualTypeOf<OperationOutput<'account.get'>>();
  expectTypeOf<GrantDescription>().toEqualTypeOf<OperationOutput<'account.grant'>>();
  expectTypeOf<Introspection>().toEqualTypeOf<OperationOutput<'grants.introspect'>>();
});

test('a client offers its operations and nothing else', () => {
  expectTypeOf<keyof Latchkey>().toEqualTypeOf<
    | 'convert'
    | 'revoke'
    | 'recover'
    | 'account'
    | 'grant'
    | 'revokeToken'
    | 'introspect'
    | 'authorizationUrl'
    | 'finishLinking'
  >();
});

test('options', () => {
  // All options may come from the environment.
  expectTypeOf<[]>().toExtend<ConstructorParameters<typeof Latchkey>>();
  // @ts-expect-error there is no such option
  new Latchkey({ baseUrl: '', applicationSecret: '', retries: 3 });
  expectTypeOf<Console>().toExtend<Logger>();
  expectTypeOf<PinoLogger>().toExtend<Logger>();

  // Environment variables may be unset.
  const undecided: LatchkeyOptions = {
    baseUrl: undefined,
    applicationSecret: undefined,
    publicUrl: undefined,
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
  expectTypeOf<CallOptions['maxRetries']>().toEqualTypeOf<number | undefined>();
});

test('a result is the service’s object with its request id and response', () => {
  expectTypeOf<WithResponse<FullGrant>>().toExtend<FullGrant>();
  expectTypeOf<WithResponse<Account>['request_id']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<WithResponse<Account>['response']>().toEqualTypeOf<ResponseDetails | undefined>();
  expectTypeOf<LatchkeyError['response']>().toEqualTypeOf<ResponseDetails | undefined>();
  expectTypeOf<FullGrant>().not.toHaveProperty('request_id');
});

test('arguments of the wrong type are errors', () => {
  const latchkey = {} as Latchkey;
  // @ts-expect-error a query parameter may be missing
  latchkey.convert(new URLSearchParams().get('code'));
  // @ts-expect-error the grant's id or its secret, not the grant
  latchkey.account({} as FullGrant);
});

test('instanceof narrows an error to its class, and excludes it afterwards', () => {
  const error = {} as LatchkeyError;
  // If the classes had the same structure, nothing would be left of the type here.
  if (error instanceof CodeExpiredError) return;
  expectTypeOf(error).toEqualTypeOf<LatchkeyError>();
  if (error instanceof TimeoutError) return;
  if (error instanceof ConnectionError) {
    expectTypeOf(error.maybe_sent).toEqualTypeOf<boolean>();
    return;
  }
  expectTypeOf(error.message).toEqualTypeOf<string>();

  const anything: unknown = error;
  if (isLatchkeyError(anything)) expectTypeOf(anything).toEqualTypeOf<AnyLatchkeyError>();
});

test('name is a union, and narrows an error to its class too', () => {
  expectTypeOf<LatchkeyError['name']>().toEqualTypeOf<LatchkeyErrorName>();
  expectTypeOf<string>().not.toExtend<LatchkeyErrorName>();
  // @ts-expect-error a mistyped name
  const mistyped: LatchkeyErrorName = 'CodeUsedError';
  expectTypeOf(mistyped).toBeString();

  const error: unknown = {};
  if (!isLatchkeyError(error)) return;
  switch (error.name) {
    case 'CodeAlreadyUsedError':
    case 'OutcomeUnknownError':
      expectTypeOf(error.grant_id).toEqualTypeOf<string>();
      break;
    case 'ConnectionError':
    case 'TimeoutError':
      expectTypeOf(error.maybe_sent).toEqualTypeOf<boolean>();
      break;
    case 'LatchkeyConfigError':
    case 'AuthenticationError':
    case 'RightMissingError':
    case 'InvalidRequestError':
    case 'CodeNotFoundError':
    case 'CodeExpiredError':
    case 'GrantNotFoundError':
    case 'GrantNotRecoverableError':
    case 'RateLimitedError':
    case 'ApplicationDisabledError':
    case 'UnavailableError':
    case 'ServerError':
    case 'UnexpectedResponseError':
    case 'LinkDeniedError':
    case 'LinkFailedError':
    case 'StateMismatchError':
    case 'IssuerMismatchError':
      break;
    default:
      // A switch can be exhaustive.
      expectTypeOf(error).toBeNever();
  }
});

test('the members of an introspection depend on whether the token is active', () => {
  const token = {} as Introspection;
  if (token.active) expectTypeOf(token.sub).toEqualTypeOf<string>();
  // @ts-expect-error of a token that may not be active
  token.sub;
});

test('what was kept since a link began is required to finish it', () => {
  const latchkey = {} as Latchkey;
  // @ts-expect-error the verifier is missing
  latchkey.finishLinking('/callback', { state: '', redirectUri: '' });
  // @ts-expect-error the redirect URI and the scope are missing
  latchkey.authorizationUrl({});
});

test('members of errors', () => {
  expectTypeOf<CodeAlreadyUsedError['grant_id']>().toEqualTypeOf<string>();
  expectTypeOf<OutcomeUnknownError['grant_id']>().toEqualTypeOf<string>();
  expectTypeOf<InvalidRequestError['issues']>().toEqualTypeOf<
    readonly ParameterIssue[] | undefined
  >();
  expectTypeOf<LatchkeyError['status']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<LatchkeyError['retry_after']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<LatchkeyError['recovery_errors']>().toEqualTypeOf<
    readonly LatchkeyError[] | undefined
  >();
  expectTypeOf<'code_expired'>().toExtend<LatchkeyError['error_code']>();
  expectTypeOf<'of_a_newer_service'>().toExtend<LatchkeyError['error_code']>();
  // @ts-expect-error members of errors are read-only
  new ServerError('').status = 400;
});
