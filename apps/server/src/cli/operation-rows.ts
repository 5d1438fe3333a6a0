import type { OperationInput, OperationOutput, Operations } from '@latchkey/schema';
import type { OperatorOperation } from '../operations/call-operation.ts';
import type { CallAsOperator } from './open-for-command.ts';
import { restOf } from './rest-of-work.ts';

/** What the contract of an operation does not say about its command. */
export interface OperationRow<Input = object, Output = object> {
  /** The words after those of its object. Default: those of its name. Null: the command has a file of its own. */
  readonly command?: string | null;
  /** The members that are arguments. Default: those of the path. */
  readonly positional?: readonly (keyof Input & string)[];
  /** A member that is a new id unless it is given. */
  readonly newId?: keyof Input & string;
  /** The defaults of the command, where the operation has others. */
  readonly defaults?: Partial<Input>;
  readonly exactlyOneOf?: readonly (keyof Input & string)[];
  /** It makes the database if there is none. A missing one means otherwise that DATABASE_URL is probably wrong. */
  readonly creates?: true;
  /** What is asked before something ends for good, and what is printed then. A name in braces is a member. */
  readonly ends?: string;
  readonly done?: string;
  readonly describe?: (output: Output, context: DescribeContext) => string | Promise<string>;
}

export interface DescribeContext {
  readonly call: CallAsOperator;
  /** Of the terminal. */
  readonly width: number | undefined;
}

type Row<Name extends OperatorOperation> = OperationRow<
  OperationInput<Name>,
  OperationOutput<Name>
>;

/** What deletes has to ask. */
type Deleting = {
  [Name in OperatorOperation]: Operations[Name]['method'] extends 'DELETE' ? Name : never;
}[OperatorOperation];

type Rows = { readonly [Name in Deleting]: Row<Name> & { readonly ends: string } } & {
  readonly [Name in OperatorOperation]?: Row<Name>;
};

export const operationRows = {
  'admin.applications.create': {
    positional: ['name'],
    defaults: { challenge_required: true },
    creates: true,
  },
  'admin.applications.delete': {
    ends: 'Delete the application {application_id}? Its grants are revoked, for good.',
    describe: ({ id, name, state }) => `Application ${id} (${name}) is deleted.${restOf(state)}`,
  },
  'admin.applications.secrets.create': { command: 'secret add' },
  'admin.applications.secrets.revoke': {
    ends: 'Remove the secret {secret_id}? Requests with it are refused from then on.',
  },
  'admin.accounts.put': { newId: 'account_id', creates: true },
  'admin.accounts.export': { describe: (exported) => JSON.stringify(exported, null, 2) },
  'admin.accounts.erase': {
    ends: 'Erase the account {account_id}? Its grants are revoked and its names removed, for good.',
    describe: ({ id, state, grants_revoked }) =>
      `Account ${id} is erased. Grants revoked: ${grants_revoked}.${restOf(state)}`,
  },
  // The guides take the first line.
  'admin.codes.issue': {
    describe: ({ code, grant_id, expires_at }) =>
      `${code}\nfor grant ${grant_id}, until ${expires_at}`,
  },
  'admin.codes.cancel': {
    ends: 'Cancel the code of grant {grant_id}? Its user must then allow again.',
    done: 'The code of grant {grant_id} is cancelled.',
  },
  'admin.scopes.delete': {
    ends: 'Delete the description of the scope {scope}? Applications can no longer ask for it.',
    done: 'The scope {scope} is no longer described. It was: {title}',
  },
  'admin.resources.create': { positional: ['resource'] },
  'admin.resources.delete': {
    ends: 'Delete the resource {resource_id}? Nobody can ask for it any more, and its open links end, for good.',
    done: 'The resource {resource} is deleted. It was: {name}',
  },
  'admin.documents.pin': {
    positional: ['document_uri', 'document'],
    done: 'The document of {document_uri} is pinned: {name}',
  },
  'admin.documents.unpin': {
    positional: ['document_uri'],
    done: 'The document of {document_uri} is no longer pinned. It was: {name}',
  },
  'admin.connections.list': { positional: [] },
  'admin.connections.revoke': {
    command: null,
    ends: 'Disconnect the application {application_id} from the account {account_id}? Its grants are revoked, for good.',
  },
  'admin.pages.create': {
    describe: ({ url, expires_at }) => `${url}\nopens in one browser, until ${expires_at}`,
  },
  'admin.pages.end': { done: 'The pages of the account {account_id} have ended.' },
  'admin.links.read': { positional: ['link'] },
  'admin.links.identify': { positional: ['link'] },
  'admin.links.approve': { positional: ['link'] },
  'admin.links.deny': {
    positional: ['link'],
    ends: 'Deny this link? Its user must then start again.',
  },
  'admin.grants.list': { exactlyOneOf: ['account_id', 'application_id'] },
  'admin.grants.history': {
    describe: async (history, { call }) =>
      (await import('./describe-history.ts')).describeHistory(history, call),
  },
  'admin.grants.revoke': {
    command: null,
    ends: 'Revoke the grant {grant_id}? Its user must then link again.',
  },
  'admin.grants.revokeAll': {
    command: null,
    ends: 'Revoke {grants}? Their users must then link again.',
  },
  'admin.refusals.list': { command: null },
  'admin.summary.get': {
    describe: async (summary, { width }) =>
      (await import('./describe-summary.ts')).describeSummary(summary, width),
  },
  'admin.endpoints.create': { positional: ['url'] },
  'admin.endpoints.delete': {
    ends: 'Delete the endpoint {endpoint_id}? What is pending is dropped, for good.',
    done: 'The endpoint is deleted. It was: {url}',
  },
  'admin.endpoints.replay': { done: 'Deliveries that are due again: {count}' },
  'admin.deliveries.list': { exactlyOneOf: ['endpoint_id', 'grant_id'] },
  'admin.keys.create': { positional: ['name'] },
  'admin.keys.delete': {
    ends: 'Delete the key {key_id}? Requests with it are refused from then on.',
    done: 'The key is deleted. It was: {name}, role {role}',
  },
  // The value of a secret that is set is null too.
  'admin.settings.get': {
    describe: async ({ data }) =>
      (await import('./describe.ts')).fieldList(
        data.map(({ name, value, source }) => [name, `${value ?? '-'} (${source})`]),
      ),
  },
} as const satisfies Rows;

/** The operations that end something for good. */
export type EndingOperation = {
  [Name in keyof typeof operationRows]: (typeof operationRows)[Name] extends { ends: string }
    ? Name
    : never;
}[keyof typeof operationRows];

/** The same, for a name that is known only when it runs. */
export const rowsByName = operationRows as {
  readonly [Name in OperatorOperation]?: unknown;
} as { readonly [Name in OperatorOperation]?: OperationRow };
