import type { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import * as input from './inputs.ts';
import * as object from './objects.ts';

/**
 * Who may call an operation: an application with its secret, a grant with its secret, or the
 * operator with the ADMIN_SECRET.
 */
export type Caller = 'application' | 'grant' | 'operator';

/** One operation of the service, as both wires offer it. */
export interface OperationContract {
  /** REST verb. Over tRPC a GET is a query and everything else a mutation. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** REST path; a name in braces is a member of the input. */
  readonly path: `/${string}`;
  readonly caller: Caller;
  readonly summary: string;
  readonly description: string;
  readonly input: z.ZodType<object>;
  readonly output: z.ZodType<object>;
  /**
   * The errors of its own. Those that follow from its caller, its input or its method, such as
   * `outcome_unknown` of whatever writes, are not listed.
   */
  readonly errors: readonly ErrorCode[];
}

/**
 * Every operation, by the name of its tRPC procedure. The one list: the server's procedures and
 * REST routes, OpenAPI and the client's types all come from it.
 */
export const operations = {
  'grants.convert': {
    method: 'POST',
    path: '/oauth/convert',
    caller: 'application',
    summary: 'Exchange a code for a grant',
    description:
      'Consumes a code and returns the full grant with its secret. Of all calls with a code exactly one succeeds, ever; a call that fails leaves the code as it was.',
    input: input.codeInput,
    output: object.fullGrant,
    errors: ['code_not_found', 'code_expired', 'code_already_used'],
  },
  'grants.revoke': {
    method: 'POST',
    path: '/oauth/revoke',
    caller: 'application',
    summary: 'Revoke a grant',
    description:
      'Ends a grant. Once this has answered, no request with the grant succeeds. Idempotent: repeated, it answers the same.',
    input: input.grantIdInput,
    output: object.revokedGrant,
    errors: ['grant_not_found'],
  },
  'grants.recover': {
    method: 'POST',
    path: '/oauth/recover',
    caller: 'application',
    summary: 'Recover a grant whose answer was lost',
    description:
      'Gives a grant a new secret and kills the old one, as long as the grant was never used and was exchanged less than 10 minutes ago. For the application that got no answer to its exchange.',
    input: input.grantIdInput,
    output: object.fullGrant,
    errors: ['grant_not_found', 'grant_not_recoverable'],
  },
  'account.get': {
    method: 'GET',
    path: '/v1/account',
    caller: 'grant',
    summary: 'Get the account of the grant',
    description: 'The account as it is now.',
    input: input.nothing,
    output: object.account,
    errors: [],
  },
  'account.grant': {
    method: 'GET',
    path: '/v1/grant',
    caller: 'grant',
    summary: 'Get the grant itself',
    description:
      'The grant without its secret, with the account as it was when the code was issued.',
    input: input.nothing,
    output: object.grantDescription,
    errors: [],
  },
  'admin.applications.create': {
    method: 'POST',
    path: '/admin/applications',
    caller: 'operator',
    summary: 'Create an application',
    description: 'Creates an application with its first secret, which is shown this once.',
    input: input.applicationInput,
    output: object.newApplication,
    errors: [],
  },
  'admin.applications.list': {
    method: 'GET',
    path: '/admin/applications',
    caller: 'operator',
    summary: 'List the applications',
    description: 'Newest first.',
    input: input.pageInput,
    output: object.applicationList,
    errors: [],
  },
  'admin.applications.get': {
    method: 'GET',
    path: '/admin/applications/{application_id}',
    caller: 'operator',
    summary: 'Get an application',
    description: 'The application with the records of its secrets, never the secrets.',
    input: input.applicationIdInput,
    output: object.application,
    errors: ['application_not_found'],
  },
  'admin.applications.secrets.create': {
    method: 'POST',
    path: '/admin/applications/{application_id}/secrets',
    caller: 'operator',
    summary: 'Add a secret to an application',
    description:
      'Adds a secret, which is shown this once. An application has up to 5 live secrets, so that one can be replaced without downtime.',
    input: input.secretInput,
    output: object.newApplicationSecret,
    errors: ['application_not_found', 'secret_limit_reached'],
  },
  'admin.applications.secrets.revoke': {
    method: 'DELETE',
    path: '/admin/applications/{application_id}/secrets/{secret_id}',
    caller: 'operator',
    summary: 'Remove a secret of an application',
    description: 'The secret stops working with the next request.',
    input: input.secretIdInput,
    output: object.application,
    errors: ['application_not_found', 'secret_not_found'],
  },
  'admin.applications.disable': {
    method: 'POST',
    path: '/admin/applications/{application_id}/disable',
    caller: 'operator',
    summary: 'Disable an application',
    description: 'Its secrets and its grants stop working with the next request. Idempotent.',
    input: input.applicationIdInput,
    output: object.application,
    errors: ['application_not_found'],
  },
  'admin.applications.enable': {
    method: 'POST',
    path: '/admin/applications/{application_id}/enable',
    caller: 'operator',
    summary: 'Enable an application',
    description: 'Its secrets and its grants work again, as far as they did before. Idempotent.',
    input: input.applicationIdInput,
    output: object.application,
    errors: ['application_not_found'],
  },
  'admin.accounts.put': {
    method: 'PUT',
    path: '/admin/accounts/{account_id}',
    caller: 'operator',
    summary: 'Put an account',
    description:
      'Makes an account known, or replaces the whole of it. Members left out take their defaults.',
    input: input.accountInput,
    output: object.account,
    errors: [],
  },
  'admin.accounts.get': {
    method: 'GET',
    path: '/admin/accounts/{account_id}',
    caller: 'operator',
    summary: 'Get an account',
    description: 'The account as it is now.',
    input: input.accountIdInput,
    output: object.account,
    errors: ['account_not_found'],
  },
  'admin.codes.issue': {
    method: 'POST',
    path: '/admin/codes',
    caller: 'operator',
    summary: 'Issue a code',
    description:
      'Issues a code for the application to exchange within 300 seconds. The account is copied into it as it is now.',
    input: input.codeIssueInput,
    output: object.issuedCode,
    errors: ['application_not_found', 'account_not_found'],
  },
  'admin.codes.cancel': {
    method: 'DELETE',
    path: '/admin/codes/{grant_id}',
    caller: 'operator',
    summary: 'Cancel a code',
    description: 'Cancels a code that nobody has exchanged. It is unknown from then on.',
    input: input.grantIdInput,
    output: object.cancelledCode,
    errors: ['grant_not_found'],
  },
  'admin.grants.list': {
    method: 'GET',
    path: '/admin/grants',
    caller: 'operator',
    summary: 'List the grants of an account or of an application',
    description:
      'Newest first, revoked ones included, by exactly one of account_id and application_id. Codes that were not exchanged are not in it.',
    input: input.grantListInput,
    output: object.grantList,
    errors: [],
  },
  'admin.grants.revoke': {
    method: 'POST',
    path: '/admin/grants/{grant_id}/revoke',
    caller: 'operator',
    summary: 'Revoke any grant',
    description: 'Ends a grant of any application. Idempotent: repeated, it answers the same.',
    input: input.grantIdInput,
    output: object.revokedGrant,
    errors: ['grant_not_found'],
  },
} as const satisfies Record<string, OperationContract>;

export type Operations = typeof operations;

/** The name of an operation, which is the name of its tRPC procedure. */
export type OperationName = keyof Operations;

/** What an operation takes, as a caller writes it. */
export type OperationInput<Name extends OperationName> = z.input<Operations[Name]['input']>;

/** What an operation's handler gets: validated, with the defaults filled in. */
export type ValidatedInput<Name extends OperationName> = z.output<Operations[Name]['input']>;

/** What an operation returns. */
export type OperationOutput<Name extends OperationName> = z.output<Operations[Name]['output']>;

/** Every {@link OperationName}, in the order of the docs. */
export const operationNames = Object.keys(operations) as OperationName[];
