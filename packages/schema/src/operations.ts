import type { z } from 'zod';
import type { Caller, Role } from './caller.ts';
import * as input from './inputs.ts';
import * as object from './objects.ts';
import type { ErrorCode } from './types.ts';

/** One operation of the service, offered over REST and over tRPC. */
export interface OperationContract {
  /** HTTP method over REST. Over tRPC, a GET is a query and everything else is a mutation. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path over REST. A name in braces is a member of the input. */
  readonly path: `/${string}`;
  readonly caller: Caller;
  /** The roles that may call it, of an operation of the operator. */
  readonly roles?: readonly Role[];
  /**
   * Over REST it takes `application/x-www-form-urlencoded` too, and the credentials of OAuth clients
   * (RFC 6749, section 2.3.1). Default: false.
   */
  readonly takesForm?: boolean;
  /**
   * It changes nothing. It is a POST because its input has a credential, which must not be in a URL.
   * Default: whether it is a GET.
   */
  readonly readOnly?: boolean;
  /** Only there if the linking flow is on: see SIGN_IN_URL. Default: false. */
  readonly needsLinking?: boolean;
  /** Only there if documents are taken: see CLIENT_DOCUMENTS. Default: false. */
  readonly needsDocuments?: boolean;
  /** Only there if events are on: see EVENTS_KEY. Default: false. */
  readonly needsEvents?: boolean;
  readonly summary: string;
  readonly description: string;
  readonly input: z.ZodType<object>;
  readonly output: z.ZodType<object>;
  /**
   * The errors that are specific to this operation. Errors that follow from its caller, input or
   * method, such as `outcome_unknown` of every write, are not listed.
   */
  readonly errors: readonly ErrorCode[];
}

/** Whether it changes nothing. */
export const isRead = ({ readOnly, method }: OperationContract): boolean =>
  readOnly ?? method === 'GET';

/** What every row of the table has: an operation of the operator without roles does not compile. */
export type OperationRow = OperationContract &
  (
    | { readonly caller: 'operator'; readonly roles: readonly Role[] }
    | { readonly caller: Exclude<Caller, 'operator'>; readonly roles?: never }
  );

/**
 * Every operation, by the name of its tRPC procedure. The procedures and REST routes of the server,
 * OpenAPI and the types of the client are derived from this table.
 */
export const operations = {
  'grants.convert': {
    method: 'POST',
    path: '/oauth/convert',
    caller: 'application',
    summary: 'Convert a code into a grant',
    description:
      'Consumes a code and returns the full grant with its secret. Of all calls with one code, exactly one succeeds. A call that fails leaves the code unchanged.',
    input: input.codeInput,
    output: object.fullGrant,
    errors: [
      'code_not_found',
      'code_expired',
      'redirect_uri_mismatch',
      'code_verifier_mismatch',
      'target_mismatch',
      'code_already_used',
    ],
  },
  'grants.revoke': {
    method: 'POST',
    path: '/oauth/revoke',
    caller: 'application',
    summary: 'Revoke a grant',
    description:
      'Ends a grant. After the response, no request with the grant succeeds. Idempotent: a repeated call returns the same body.',
    input: input.ownGrantIdInput,
    output: object.revokedGrant,
    errors: ['grant_not_found'],
  },
  'grants.revokeToken': {
    method: 'POST',
    path: '/oauth/revoke',
    caller: 'application',
    takesForm: true,
    summary: 'Revoke a grant by its secret',
    description:
      'Token revocation (RFC 7009). Ends the grant whose secret is the token. With any other text it succeeds too, and changes nothing.',
    input: input.tokenInput,
    output: object.emptyObject,
    errors: ['token_of_another_application'],
  },
  'grants.introspect': {
    method: 'POST',
    path: '/oauth/introspect',
    caller: 'application',
    takesForm: true,
    readOnly: true,
    summary: 'Introspect a token',
    description:
      'Token introspection (RFC 7662). An application learns about its own grants, a resource server about those of every application. Anything else is not active. An active response is a use of the grant.',
    input: input.tokenInput,
    output: object.introspection,
    errors: [],
  },
  'grants.recover': {
    method: 'POST',
    path: '/oauth/recover',
    caller: 'application',
    summary: 'Recover a grant whose response was lost',
    description:
      'For an application that lost the response to convert. Replaces the secret of the grant; the old one stops working. Possible for 10 minutes after the conversion, if the grant was never used.',
    input: input.ownGrantIdInput,
    output: object.fullGrant,
    errors: ['grant_not_found', 'grant_not_recoverable'],
  },
  'account.get': {
    method: 'GET',
    path: '/v1/account',
    caller: 'grant',
    summary: 'Get the account of the grant',
    description: 'The account as it is now.',
    input: input.noInput,
    output: object.account,
    errors: ['resource_mismatch'],
  },
  'account.grant': {
    method: 'GET',
    path: '/v1/grant',
    caller: 'grant',
    summary: 'Get the grant itself',
    description:
      'The grant without its secret, with the id of its application and the account as it was when the code was issued.',
    input: input.noInput,
    output: object.grantDescription,
    errors: [],
  },
  'admin.applications.create': {
    method: 'POST',
    path: '/admin/applications',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Create an application',
    description:
      'Creates an application and its first secret, which is shown only once. A public application gets no secret.',
    input: input.applicationInput,
    output: object.newApplication,
    errors: ['store_full'],
  },
  'admin.applications.list': {
    method: 'GET',
    path: '/admin/applications',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'List the applications',
    description: 'Newest first.',
    input: input.applicationListInput,
    output: object.applicationList,
    errors: [],
  },
  'admin.applications.get': {
    method: 'GET',
    path: '/admin/applications/{application_id}',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'Get an application',
    description: 'The application with the records of its secrets, without the secrets themselves.',
    input: input.applicationIdInput,
    output: object.application,
    errors: ['application_not_found'],
  },
  'admin.applications.update': {
    method: 'PATCH',
    path: '/admin/applications/{application_id}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Update an application',
    description:
      'Changes the members that are sent; the others stay. Whether it is public is fixed at its creation.',
    input: input.applicationUpdateInput,
    output: object.application,
    errors: ['application_not_found', 'application_documented'],
  },
  'admin.applications.secrets.create': {
    method: 'POST',
    path: '/admin/applications/{application_id}/secrets',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Add a secret to an application',
    description:
      'Adds a secret, which is shown only once. An application can have up to 5 live secrets, so that a secret can be replaced without downtime.',
    input: input.secretInput,
    output: object.newApplicationSecret,
    errors: [
      'application_not_found',
      'application_documented',
      'application_public',
      'secret_limit_reached',
    ],
  },
  'admin.applications.secrets.revoke': {
    method: 'DELETE',
    path: '/admin/applications/{application_id}/secrets/{secret_id}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Remove a secret of an application',
    description: 'The secret stops working from the next request on.',
    input: input.secretIdInput,
    output: object.application,
    errors: ['application_not_found', 'secret_not_found'],
  },
  'admin.applications.disable': {
    method: 'POST',
    path: '/admin/applications/{application_id}/disable',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Disable an application',
    description:
      'From the next request on, its secrets and grants are refused with `application_disabled`, until it is enabled. Its open links and the codes that were not converted end for good. Idempotent.',
    input: input.applicationIdInput,
    output: object.application,
    errors: ['application_not_found'],
  },
  'admin.applications.enable': {
    method: 'POST',
    path: '/admin/applications/{application_id}/enable',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Enable an application',
    description:
      'Its secrets and grants work again, except those that were removed, expired or revoked. Links and codes from before stay ended. Idempotent.',
    input: input.applicationIdInput,
    output: object.application,
    errors: ['application_not_found'],
  },
  'admin.applications.delete': {
    method: 'DELETE',
    path: '/admin/applications/{application_id}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Delete a disabled application',
    description:
      'Deletes an application for good and returns it as it was. From the response on, none of its secrets, codes and grants works. If there are so many that the response would take more than 5 seconds, its `state` is `deleting`, and the rest is written down in the background.',
    input: input.applicationIdInput,
    output: object.deletedApplication,
    errors: ['application_not_found', 'application_enabled'],
  },
  'admin.accounts.put': {
    method: 'PUT',
    path: '/admin/accounts/{account_id}',
    caller: 'operator',
    roles: ['host', 'operate'],
    summary: 'Put an account',
    description:
      'Creates an account or replaces it completely. Omitted members get their defaults.',
    input: input.accountInput,
    output: object.accountEntry,
    errors: ['store_full'],
  },
  'admin.accounts.get': {
    method: 'GET',
    path: '/admin/accounts/{account_id}',
    caller: 'operator',
    roles: ['read', 'host', 'support', 'operate'],
    summary: 'Get an account',
    description: 'The account as it is now.',
    input: input.accountIdInput,
    output: object.accountEntry,
    errors: ['account_not_found'],
  },
  'admin.accounts.list': {
    method: 'GET',
    path: '/admin/accounts',
    caller: 'operator',
    roles: ['read', 'host', 'support', 'operate'],
    summary: 'List the accounts',
    description:
      'Newest first. With username or external_id, only the accounts with exactly this one.',
    input: input.accountListInput,
    output: object.accountList,
    errors: [],
  },
  'admin.accounts.erase': {
    method: 'DELETE',
    path: '/admin/accounts/{account_id}',
    caller: 'operator',
    roles: ['host', 'operate'],
    summary: 'Erase an account',
    description:
      'Revokes the grants of the account, cancels its codes, and removes its personal data, also from the copies in its grants: username and display_name become "erased", twitter null, and the external id is gone. From the response on, nothing of the account works, and no reader gets its data. What takes more than 5 seconds is done in the background: then `state` is `erasing`. A repeated call says how far it is. Idempotent, also for an unknown account.',
    input: input.accountIdInput,
    output: object.accountErasure,
    errors: [],
  },
  'admin.accounts.export': {
    method: 'GET',
    path: '/admin/accounts/{account_id}/export',
    caller: 'operator',
    roles: ['host', 'support', 'operate'],
    summary: 'Export an account',
    description:
      'Everything that is stored about the account, complete and on one page: the account, its grants and codes, what happened to them, and what was refused about them. Without credentials and hashes.',
    input: input.accountIdInput,
    output: object.accountExport,
    errors: ['account_not_found'],
  },
  'admin.codes.issue': {
    method: 'POST',
    path: '/admin/codes',
    caller: 'operator',
    roles: ['host', 'operate'],
    summary: 'Issue a code',
    description:
      'Issues a code that the application can convert within 300 seconds. The code stores a copy of the current account.',
    input: input.codeIssueInput,
    output: object.issuedCode,
    errors: ['target_unknown', 'application_not_found', 'account_not_found', 'store_full'],
  },
  'admin.codes.cancel': {
    method: 'DELETE',
    path: '/admin/codes/{grant_id}',
    caller: 'operator',
    roles: ['host', 'support', 'operate'],
    summary: 'Cancel a code',
    description: 'Cancels a code that was not converted. The code is unknown from then on.',
    input: input.grantIdInput,
    output: object.cancelledCode,
    errors: ['grant_not_found'],
  },
  'admin.scopes.put': {
    method: 'PUT',
    path: '/admin/scopes/{scope}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Describe a scope',
    description:
      'Describes a scope for the consent page, or replaces its description completely. Applications can ask only for described scopes.',
    input: input.scopeInput,
    output: object.scopeDescription,
    errors: ['scope_limit_reached'],
  },
  'admin.scopes.list': {
    method: 'GET',
    path: '/admin/scopes',
    caller: 'operator',
    roles: ['read', 'host', 'support', 'operate'],
    summary: 'List the scopes',
    description: 'All of them, by name.',
    input: input.emptyInput,
    output: object.scopeList,
    errors: [],
  },
  'admin.scopes.delete': {
    method: 'DELETE',
    path: '/admin/scopes/{scope}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Delete the description of a scope',
    description:
      'From then on, no application can ask for the scope. Grants that have it stay active. Returns the deleted description.',
    input: input.scopeNameInput,
    output: object.scopeDescription,
    errors: ['scope_not_found'],
  },
  'admin.resources.create': {
    method: 'POST',
    path: '/admin/resources',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Create a resource',
    description:
      'Registers a server that grants can be for. Its address is stored without a default port and a slash at the end, scheme and host in lower case, and never changes.',
    input: input.resourceInput,
    output: object.resource,
    errors: ['resource_exists', 'resource_limit_reached'],
  },
  'admin.resources.list': {
    method: 'GET',
    path: '/admin/resources',
    caller: 'operator',
    roles: ['read', 'host', 'support', 'operate'],
    summary: 'List the resources',
    description: 'All of them, by address.',
    input: input.emptyInput,
    output: object.resourceList,
    errors: [],
  },
  'admin.resources.update': {
    method: 'PATCH',
    path: '/admin/resources/{resource_id}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Update a resource',
    description:
      'Changes the members that are sent; the others stay. If a scope is taken away, the link requests for the resource that are not decided end for good.',
    input: input.resourceUpdateInput,
    output: object.resource,
    errors: ['resource_not_found'],
  },
  'admin.resources.delete': {
    method: 'DELETE',
    path: '/admin/resources/{resource_id}',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Delete a resource',
    description:
      'From then on, nobody can ask for the resource, and the link requests for it that are not decided end for good. Codes and grants stay. Returns the resource as it was.',
    input: input.resourceIdInput,
    output: object.resource,
    errors: ['resource_not_found'],
  },
  'admin.documents.pin': {
    method: 'POST',
    path: '/admin/documents/pin',
    caller: 'operator',
    roles: ['operate'],
    needsDocuments: true,
    summary: 'Pin a client document',
    description:
      'From then on, the document at this address is the one that is sent here: nothing is fetched, and the address is taken as one that you vouch for. A pinned document is replaced. Link requests that are not decided go on with what they have.',
    input: input.documentPinInput,
    output: object.clientDocument,
    errors: ['document_limit_reached', 'store_full'],
  },
  'admin.documents.unpin': {
    method: 'POST',
    path: '/admin/documents/unpin',
    caller: 'operator',
    roles: ['operate'],
    needsDocuments: true,
    summary: 'Unpin a client document',
    description:
      'The next link of the application fetches its document again. Returns the document as it was.',
    input: input.documentUriInput,
    output: object.clientDocument,
    errors: ['document_not_found'],
  },
  'admin.documents.list': {
    method: 'GET',
    path: '/admin/documents',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    needsDocuments: true,
    summary: 'List the client documents',
    description:
      'Those that are pinned, and those that are kept while their server fails, by address.',
    input: input.documentListInput,
    output: object.clientDocumentList,
    errors: [],
  },
  'admin.connections.list': {
    method: 'GET',
    path: '/admin/accounts/{account_id}/connections',
    caller: 'operator',
    roles: ['read', 'host', 'support', 'operate'],
    summary: 'List the connected applications of an account',
    description:
      'The applications with active grants of the account, by name in code points, then by id. Empty if there is no such account.',
    input: input.connectionListInput,
    output: object.connectionList,
    errors: [],
  },
  'admin.connections.revoke': {
    method: 'DELETE',
    path: '/admin/accounts/{account_id}/connections/{application_id}',
    caller: 'operator',
    roles: ['host', 'support', 'operate'],
    summary: 'Disconnect an application from an account',
    description:
      'Revokes every active grant of the account with this application, cancels every code that was not converted, and returns what was written down. From the response on, none of them works. What takes more than 5 seconds is written down in the background: then `state` is `revoking`. Idempotent.',
    input: input.connectionInput,
    output: object.revokedGrantList,
    errors: [],
  },
  'admin.pages.create': {
    method: 'POST',
    path: '/admin/pages',
    caller: 'operator',
    roles: ['host', 'operate'],
    needsLinking: true,
    summary: 'Create a page for an account',
    description:
      'Creates an address that opens in one browser, within 300 seconds: the page where a user sees and ends the connected applications. Send the browser of this user there.',
    input: input.pageCreateInput,
    output: object.page,
    errors: ['account_not_found', 'store_full'],
  },
  'admin.pages.end': {
    method: 'POST',
    path: '/admin/pages/end',
    caller: 'operator',
    roles: ['host', 'support', 'operate'],
    needsLinking: true,
    summary: 'End the pages of an account',
    description:
      'For a host whose user has signed out. Every page of the account stops working, consent pages and lists of connected applications. Links are not affected. Pages that are made afterwards work. Idempotent, also for an unknown account.',
    input: input.accountIdInput,
    output: object.pagesEnded,
    errors: [],
  },
  'admin.links.read': {
    method: 'POST',
    path: '/admin/links/read',
    caller: 'operator',
    roles: ['host', 'operate'],
    readOnly: true,
    needsLinking: true,
    summary: 'Read a link request',
    description: 'Returns what the application asks for, and the state of the request.',
    input: input.linkInput,
    output: object.linkRequest,
    errors: ['link_not_found', 'link_expired'],
  },
  'admin.links.identify': {
    method: 'POST',
    path: '/admin/links/identify',
    caller: 'operator',
    roles: ['host', 'operate'],
    needsLinking: true,
    summary: 'Name the account of a link request',
    description:
      'Tells which account has signed in, and returns the address of the consent page for it. It can be repeated: the last call counts, and earlier pages stop working. With own_page, there is no page: the host asks the user itself, and approves for this account.',
    input: input.linkIdentifyInput,
    output: object.linkIdentification,
    errors: ['link_not_found', 'link_expired', 'link_decided', 'account_not_found', 'store_full'],
  },
  'admin.links.approve': {
    method: 'POST',
    path: '/admin/links/approve',
    caller: 'operator',
    roles: ['host', 'operate'],
    needsLinking: true,
    summary: 'Approve a link request',
    description:
      'For a host that has asked its user itself. Issues a code, and returns the address that carries it to the application. Repeating it with the same input has the same response while the code is valid.',
    input: input.linkApproveInput,
    output: object.linkRedirect,
    errors: [
      'link_not_found',
      'link_expired',
      'link_decided',
      'account_not_found',
      'scope_unknown',
      'account_changed',
      'store_full',
    ],
  },
  'admin.links.deny': {
    method: 'POST',
    path: '/admin/links/deny',
    caller: 'operator',
    roles: ['host', 'operate'],
    needsLinking: true,
    summary: 'Deny a link request',
    description:
      'The user does not want to link, or gave up signing in. Returns the address that tells the application, or that of a page with a link there if nobody vouches for the redirect URI. Idempotent.',
    input: input.linkInput,
    output: object.linkRedirect,
    errors: ['link_not_found', 'link_expired', 'link_decided'],
  },
  'admin.grants.list': {
    method: 'GET',
    path: '/admin/grants',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'List the grants of an account or of an application',
    description:
      'Newest first, including revoked grants. Takes exactly one of account_id and application_id. Codes that were not converted are not listed.',
    input: input.grantListInput,
    output: object.grantList,
    errors: [],
  },
  'admin.grants.revoke': {
    method: 'POST',
    path: '/admin/grants/{grant_id}/revoke',
    caller: 'operator',
    roles: ['support', 'operate'],
    summary: 'Revoke any grant',
    description:
      'Ends a grant of any application. Idempotent: a repeated call returns the same body.',
    input: input.grantIdInput,
    output: object.revokedGrant,
    errors: ['grant_not_found'],
  },
  'admin.grants.revokeAll': {
    method: 'POST',
    path: '/admin/grants/revoke',
    caller: 'operator',
    roles: ['operate'],
    summary: 'Revoke every grant of an account or of an application',
    description:
      'Ends every active grant, and cancels every code that was not converted. From the response on, none of them works. Takes exactly one of account_id and application_id. What takes more than 5 seconds is written down in the background: then `state` is `revoking`. Idempotent, also for an unknown id; a repeated call ends what is active now as well.',
    input: input.grantFilterInput,
    output: object.grantRevocations,
    errors: [],
  },
  'admin.grants.history': {
    method: 'GET',
    path: '/admin/grants/{grant_id}/history',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'Get the history of a grant',
    description:
      'What happened to a grant since its code was issued, and the newest 200 calls about it that were refused, oldest first.',
    input: input.grantIdInput,
    output: object.grantHistory,
    errors: ['grant_not_found'],
  },
  'admin.refusals.list': {
    method: 'GET',
    path: '/admin/refusals',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'List what was refused, and why',
    description:
      'Newest first. Refusals are kept for AUDIT_DAYS. Takes at most one of request_id, application_id, account_id and grant_id. With request_id, the first page ends with the first refusal, even if newer ones would fill it, and later pages leave it out.',
    input: input.refusalListInput,
    output: object.refusalList,
    errors: [],
  },
  'admin.summary.get': {
    method: 'GET',
    path: '/admin/summary',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'Get what happened in the last hours',
    description:
      'Link requests, grants and refused calls, with a series for a chart. The numbers are approximate. It costs the same however large the database is.',
    input: input.summaryInput,
    output: object.summary,
    errors: [],
  },
  'admin.endpoints.create': {
    method: 'POST',
    path: '/admin/endpoints',
    caller: 'operator',
    roles: ['operate'],
    needsEvents: true,
    summary: 'Create an endpoint',
    description:
      'Creates an endpoint of an application or of the host, with a secret that is shown only once. It is told of what happens from then on. An application can have 3 endpoints, the host 5.',
    input: input.endpointInput,
    output: object.newEndpoint,
    errors: ['application_not_found', 'endpoint_limit_reached', 'store_full'],
  },
  'admin.endpoints.list': {
    method: 'GET',
    path: '/admin/endpoints',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    needsEvents: true,
    summary: 'List the endpoints',
    description: 'Newest first. With application_id, only those of this application.',
    input: input.endpointListInput,
    output: object.endpointList,
    errors: [],
  },
  'admin.endpoints.get': {
    method: 'GET',
    path: '/admin/endpoints/{endpoint_id}',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    needsEvents: true,
    summary: 'Get an endpoint',
    description: 'The endpoint as it is now, without its secret.',
    input: input.endpointIdInput,
    output: object.endpoint,
    errors: ['endpoint_not_found'],
  },
  'admin.endpoints.update': {
    method: 'PATCH',
    path: '/admin/endpoints/{endpoint_id}',
    caller: 'operator',
    roles: ['operate'],
    needsEvents: true,
    summary: 'Update an endpoint',
    description:
      'Changes the members that are sent; the others stay. Disabling drops what is pending. From the response on, no try begins with what was before.',
    input: input.endpointUpdateInput,
    output: object.endpoint,
    errors: ['endpoint_not_found'],
  },
  'admin.endpoints.delete': {
    method: 'DELETE',
    path: '/admin/endpoints/{endpoint_id}',
    caller: 'operator',
    roles: ['operate'],
    needsEvents: true,
    summary: 'Delete an endpoint',
    description:
      'From the response on, nothing is sent to it. What is pending is dropped, and its deliveries stay listed for 30 days. Returns the endpoint as it was.',
    input: input.endpointIdInput,
    output: object.endpoint,
    errors: ['endpoint_not_found'],
  },
  'admin.endpoints.rotate': {
    method: 'POST',
    path: '/admin/endpoints/{endpoint_id}/rotate',
    caller: 'operator',
    roles: ['operate'],
    needsEvents: true,
    summary: 'Replace the secret of an endpoint',
    description:
      'Makes a new secret, which is shown only once. For overlap_seconds, messages are signed with the old one too. A second rotation ends the overlap of the first.',
    input: input.endpointRotationInput,
    output: object.newEndpoint,
    errors: ['endpoint_not_found'],
  },
  'admin.endpoints.ping': {
    method: 'POST',
    path: '/admin/endpoints/{endpoint_id}/ping',
    caller: 'operator',
    roles: ['support', 'operate'],
    needsEvents: true,
    summary: 'Send a ping to an endpoint',
    description:
      'Sends one message of the type ping, once, and returns its delivery when the try has ended. After 18 seconds it returns the delivery as it is then.',
    input: input.endpointIdInput,
    output: object.delivery,
    errors: ['endpoint_not_found', 'endpoint_disabled'],
  },
  'admin.endpoints.replay': {
    method: 'POST',
    path: '/admin/endpoints/{endpoint_id}/replay',
    caller: 'operator',
    roles: ['operate'],
    needsEvents: true,
    summary: 'Replay what was not delivered to an endpoint',
    description:
      'Every delivery that was given up or dropped since then, and every one that waits for a later try, is due now, and its tries begin anew; no pings. One call replays at most 10,000, newest first: repeat it until the count is 0.',
    input: input.replayInput,
    output: object.replay,
    errors: ['endpoint_not_found', 'endpoint_disabled'],
  },
  'admin.deliveries.list': {
    method: 'GET',
    path: '/admin/deliveries',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    needsEvents: true,
    summary: 'List the deliveries to an endpoint or about a grant',
    description:
      'Newest first. Takes exactly one of endpoint_id and grant_id. A delivery is kept for 30 days after its end.',
    input: input.deliveryListInput,
    output: object.deliveryList,
    errors: [],
  },
  'admin.deliveries.retry': {
    method: 'POST',
    path: '/admin/deliveries/{delivery_id}/retry',
    caller: 'operator',
    roles: ['support', 'operate'],
    needsEvents: true,
    summary: 'Retry a delivery',
    description:
      'A delivery that has ended, or waits for a later try, is due now, and its tries begin anew. A ping is tried once more.',
    input: input.deliveryIdInput,
    output: object.delivery,
    errors: ['delivery_not_found', 'endpoint_not_found', 'endpoint_disabled', 'delivery_pending'],
  },
  'admin.keys.create': {
    method: 'POST',
    path: '/admin/keys',
    caller: 'operator',
    roles: [],
    summary: 'Create a key',
    description:
      'Creates a key with a role, whose secret is shown only once. A key never changes: make a new one, and delete the old one. There can be 50 live keys.',
    input: input.keyInput,
    output: object.newKey,
    errors: ['key_limit_reached', 'store_full'],
  },
  'admin.keys.list': {
    method: 'GET',
    path: '/admin/keys',
    caller: 'operator',
    roles: [],
    summary: 'List the keys',
    description: 'Newest first. Of the expired ones, the 20 that were created last.',
    input: input.emptyInput,
    output: object.keyList,
    errors: [],
  },
  'admin.keys.delete': {
    method: 'DELETE',
    path: '/admin/keys/{key_id}',
    caller: 'operator',
    roles: [],
    summary: 'Delete a key',
    description: 'The key stops working from the next request on. Returns the key as it was.',
    input: input.keyIdInput,
    output: object.key,
    errors: ['key_not_found'],
  },
  'admin.self.get': {
    method: 'GET',
    path: '/admin/self',
    caller: 'operator',
    roles: ['read', 'host', 'support', 'operate'],
    summary: 'Get what the caller may do',
    description: 'The key of the request, its role, and the operations that it may call.',
    input: input.emptyInput,
    output: object.self,
    errors: [],
  },
  'admin.settings.get': {
    method: 'GET',
    path: '/admin/settings',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'Get the settings in force',
    description:
      'Every setting of the process that responds, with its value and where it comes from. The value of a secret is null, also if it is set.',
    input: input.emptyInput,
    output: object.settings,
    errors: [],
  },
} as const satisfies Record<string, OperationRow>;

export type Operations = typeof operations;

/** The name of an operation, which is also the name of its tRPC procedure. */
export type OperationName = keyof Operations;

/** The name of an operation that changes nothing, as {@link isRead} tells. */
export type ReadName = {
  [Name in OperationName]: Operations[Name] extends { method: 'GET' } | { readOnly: true }
    ? Name
    : never;
}[OperationName];

/** The input of an operation, as a caller writes it. */
export type OperationInput<Name extends OperationName> = z.input<Operations[Name]['input']>;

/** The input that the handler of an operation gets: validated, with defaults filled in. */
export type ValidatedInput<Name extends OperationName> = z.output<Operations[Name]['input']>;

/** The output of an operation. */
export type OperationOutput<Name extends OperationName> = z.output<Operations[Name]['output']>;

/** Every {@link OperationName}, in the order of the docs. */
export const operationNames = Object.keys(operations) as OperationName[];
