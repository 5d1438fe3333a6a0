import type { Caller } from './caller.ts';
import type { ErrorCode } from './types.ts';

/** A row of {@link errorTable}. */
export interface ErrorDefinition {
  /** HTTP status of the response. 303: the error goes to the application in a redirect, or to a page with 400. */
  readonly status: number;
  /** The standard OAuth word (RFC 6749 section 5.2, RFC 6750 section 3.1). */
  readonly error: string;
  /** What happened, in a few words. It is a heading in the docs. */
  readonly title: string;
  /**
   * `error_description` on the wire: what happened and what to do next. RFC 6749, section 5.2,
   * limits its characters to printable ASCII without `"` and `\`.
   */
  readonly description: string;
  /** For the docs: when it happens and what to check. */
  readonly help: string;
  /** Members of the body besides the five that every error has. */
  readonly members?: readonly ('grant_id' | 'issues' | 'status' | 'redirect_to')[];
  /** Seconds for `Retry-After`, if a retry can help. */
  readonly retryAfter?: number;
}

/**
 * Every error that the service can return, by its `error_code`. The union type, the HTTP statuses,
 * the docs page, OpenAPI and the error classes of the client are derived from this table.
 */
export const errorTable = {
  credentials_missing: {
    status: 401,
    error: 'invalid_client',
    title: 'No credentials were sent',
    description:
      'This request has no credentials. Send Authorization: Bearer <secret> with the secret that this route requires.',
    help: 'Routes under /oauth require an application secret (lk_app_…), routes under /v1 a grant secret (lk_grant_…) and routes under /admin the ADMIN_SECRET or a key (lk_key_…). `/oauth/token`, `/oauth/revoke` and `/oauth/introspect` also take the client_id and the client_secret as Basic or in a form. Some HTTP clients drop the header when they follow a redirect: call the final address directly.',
  },
  credentials_invalid: {
    status: 401,
    error: 'invalid_client',
    title: 'The credentials are not valid here',
    description:
      'The credentials are not valid for this route. Check that the secret is complete, that it is the kind of secret this route requires, and that it has not been removed, expired or revoked.',
    help: 'Possible causes: the header is empty or uses another scheme; the secret is cut short, mistyped or of another kind (see its prefix); the client_id is that of another application, or of one that has to send a secret too; the secret was removed or has expired; the grant was revoked. The response does not say which; an operator can look it up by the request id. A revoked grant does not come back: let the user link the account again.',
  },
  application_disabled: {
    status: 403,
    error: 'unauthorized_client',
    title: 'The application is disabled',
    description:
      'The credentials are valid, but the operator has disabled the application that they belong to. Nothing is lost: keep the grant and try again later.',
    help: 'When the operator enables the application, its secrets and grants work as before. If it lasts, ask the operator, who can run `latchkey app enable APP_ID`.',
  },
  right_missing: {
    status: 403,
    error: 'insufficient_scope',
    title: 'The key does not have this right',
    description:
      'The key is valid, but its role may not call this operation. Use a key with another role: GET /admin/self shows what this one may do.',
    help: 'Nothing was done, and the body was not read. A key never gets another role: the holder of the ADMIN_SECRET makes a new key with `latchkey key create`. See the table of the [roles](protocol/operations.md#roles).',
  },
  body_malformed: {
    status: 400,
    error: 'invalid_request',
    title: 'The body is not a JSON object',
    description:
      'The request body is not a JSON object in UTF-8, nor a form where one is taken. Send a JSON object that has the members of this operation.',
    help: 'The body is empty, is not JSON, is not UTF-8, or is JSON but not an object; or it is a form whose percent-encoding is broken. Serialize the body with a library instead of by hand.',
  },
  parameter_invalid: {
    status: 400,
    error: 'invalid_request',
    title: 'A parameter is missing or invalid',
    description: 'Send each parameter listed in issues as its message says.',
    help: 'The description begins with the first entry of "issues". Each entry has the path of a member of the input and a message that says what is expected. Identifiers in the path and the query are checked too, and operations of the operator refuse unknown members.',
    members: ['issues'],
  },
  media_type_unsupported: {
    status: 415,
    error: 'invalid_request',
    title: 'The body is not sent as JSON',
    description:
      'The request body is not declared as plain JSON, nor as a form where one is taken. Set Content-Type: application/json, encode the body as UTF-8 and do not set Content-Encoding.',
    help: 'The Content-Type is missing or is not JSON, its charset is not UTF-8, or the body is compressed. Only the routes of OAuth clients and of pages take forms. curl sends a form by default: add -H "Content-Type: application/json".',
  },
  body_too_large: {
    status: 413,
    error: 'invalid_request',
    title: 'The body is larger than 16 KiB',
    description:
      'The request body is larger than 16 KiB. Send only the members that the operation takes, and split a large tRPC batch into smaller ones.',
    help: 'The limit applies to a whole tRPC batch.',
  },
  batch_too_large: {
    status: 413,
    error: 'invalid_request',
    title: 'The batch has more than 16 calls',
    description:
      'This tRPC batch has more than 16 calls. Send them in batches of at most 16: set maxItems of httpBatchLink to 16.',
    help: 'None of the calls was made. The whole batch also has to fit into 16 KiB.',
  },
  route_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such route',
    description:
      'There is no such route. Check the path: it is case-sensitive and does not end with a slash. GET /openapi.json lists all REST operations.',
    help: 'The /admin routes exist only if ADMIN_SECRET is set, /metrics only with METRICS=on, the routes of the linking flow only if SIGN_IN_URL is set, /admin/documents only with CLIENT_DOCUMENTS, /oauth/register and /oauth/clients only with CLIENT_REGISTRATION, and the routes of endpoints and deliveries only if EVENTS_KEY is set. If ADMIN_PORT is set, /admin and /metrics are on that port alone, and the routes of browsers and applications are on PORT alone.',
  },
  method_not_allowed: {
    status: 405,
    error: 'invalid_request',
    title: 'The route does not support this method',
    description:
      'This route exists but does not support this method. Use a method from the Allow header.',
    help: 'Over tRPC, call queries with GET and mutations with POST.',
  },
  code_not_found: {
    status: 400,
    error: 'invalid_grant',
    title: 'There is no such code',
    description:
      'This code is not known for this application. Check that the code is complete and that it was issued to the application whose secret you sent. Otherwise let the user start again.',
    help: 'The code was mistyped, cut short, cancelled, issued to another application, or never issued. If it exists, it was not consumed.',
  },
  code_expired: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code is older than 5 minutes',
    description:
      'This code is older than 5 minutes and has expired. Let the user start again, and convert the new code immediately.',
    help: 'A code expires 300 seconds after it is issued. If fresh codes expire, compare the clocks of the machines that issue codes and convert them.',
  },
  code_already_used: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code was already converted',
    description:
      'This application has already converted this code, and a code works only once. If the response with the grant was lost, recover the grant named by grant_id within 10 minutes of the conversion. Otherwise use the grant you have stored, or let the user start again.',
    help: 'A retry, a double click or a second worker sent the same code again. The replay changed nothing, and the grant still works.',
    members: ['grant_id'],
  },
  grant_not_found: {
    status: 404,
    error: 'invalid_grant',
    title: 'There is no such grant',
    description:
      'This application has no grant with this grant_id. Check that the id is the one returned by convert, and that you sent the secret of the application that converted the code.',
    help: 'The grant is unknown, belongs to another application, or its code was not converted yet (an operator can cancel such a code).',
  },
  grant_not_recoverable: {
    status: 409,
    error: 'invalid_grant',
    title: 'The grant can no longer be recovered',
    description:
      'This grant has been used or is more than 10 minutes old, so it cannot be recovered. Use the grant_secret you have stored. If you have none, revoke the grant and let the user link the account again.',
    help: 'Recovery is for a lost response. It ends with the first request that is authenticated with the grant secret, or 10 minutes after the conversion.',
  },
  application_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such application',
    description:
      'There is no application with this id. List the applications to find the right id, or create the application first.',
    help: '`latchkey app list` and GET /admin/applications show every application with its id.',
  },
  account_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such account',
    description: 'There is no account with this id. Put the account first, then try again.',
    help: '`latchkey account put` and PUT /admin/accounts/{account_id} make an account known to the service.',
  },
  client_unknown: {
    status: 400,
    error: 'invalid_client',
    title: 'The application is not known here',
    description:
      'The client_id does not name an application that can link accounts here. Go back to the application and try again. If it happens again, tell its support.',
    help: 'The `client_id` of `/oauth/authorize` is missing, sent twice, not a UUID, unknown, or the id of a disabled application. `latchkey explain` tells them apart. The application has to send the id that `latchkey app list` shows.',
  },
  client_document_invalid: {
    status: 400,
    error: 'invalid_client',
    title: 'The document of the application cannot be used',
    description:
      'The client_id is the address of a document that cannot be fetched or does not follow the rules. Go back to the application and try again. If it happens again, tell its developers.',
    help: 'The page names the member or the reason. `latchkey explain` says what to do about it. `docs/protocol/clients.md` has the rules of a document.',
  },
  client_document_unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The document of the application is not available right now',
    description:
      'The client_id is the address of a document that cannot be fetched at the moment. Try again in a moment. If it happens again, tell the developers of the application.',
    help: 'The page has a link that repeats the request, and the reason if one is known: no connection, a timeout, a status other than 200 and 410, or a response that is not JSON. Without a reason, too many fetches from this host have failed within a minute. `latchkey explain` says what to do. Operators can pin a document: `latchkey document pin`.',
    retryAfter: 30,
  },
  registration_invalid: {
    status: 400,
    error: 'invalid_client_metadata',
    title: 'The registration is not valid',
    description:
      'Nothing was registered. Send redirect_uris, a list of 1 to 20; grant_types and response_types may be left out.',
    help: '`issues` names the member. `redirect_uris` is a list of 1 to 20 texts; if given, `grant_types` has `authorization_code`, and `response_types` has `code`. The `client_id` contains the name and the redirect URIs, and has at most 500 characters: register fewer or shorter ones.',
    members: ['issues'],
  },
  registration_redirect_refused: {
    status: 400,
    error: 'invalid_redirect_uri',
    title: 'None of the redirect URIs is taken here',
    description:
      'Nothing was registered. Use a loopback address, or ask the operator to list the redirect URI in CLIENT_REGISTRATION.',
    help: 'The `error_description` names what is taken here: loopback addresses, the private-use schemes of `CLIENT_SCHEMES`, and the `https:` hosts and redirect URIs of `CLIENT_REGISTRATION`. Other redirect URIs of a registration are left out, as long as one remains.',
  },
  redirect_uri_unregistered: {
    status: 400,
    error: 'invalid_request',
    title: 'The redirect URI is not registered',
    description:
      'The redirect_uri is not one that was registered for this application, so the browser is not sent there. Go back to the application, and tell its support.',
    help: 'The `redirect_uri` has to be equal to a registered one, character for character. Only the port of a loopback address may differ. It can be left out if exactly one is registered. Run `latchkey app update APP_ID --redirect-uri URI`, with the option repeated for every URI that is to stay.',
  },
  state_invalid: {
    status: 400,
    error: 'invalid_request',
    title: 'The state is not valid',
    description:
      'The state was sent twice, is longer than 2048 characters, or has characters that are not printable ASCII. Go back to the application and try again.',
    help: 'Let the application make a random `state` of letters and digits.',
  },
  response_type_unsupported: {
    status: 303,
    error: 'unsupported_response_type',
    title: 'The response type is not supported',
    description: 'This service supports only response_type=code. Let the application send it.',
    help: 'The implicit flow and `id_token` are not offered.',
  },
  challenge_required: {
    status: 303,
    error: 'invalid_request',
    title: 'The request needs a code challenge',
    description:
      'The request has no code_challenge. A public application has to send one with code_challenge_method=S256, and every other application a code_challenge or a state.',
    help: 'Without both, the application could not tell its own response from that of a stranger. Turn on PKCE (RFC 7636) in the OAuth library of the application: most have it on by default.',
  },
  scope_unknown: {
    status: 400,
    error: 'invalid_scope',
    title: 'The scope cannot be asked for',
    description:
      'The scope is missing or has a token that this application cannot ask for. Ask only for scopes that the service describes and the application may have.',
    help: 'From `/oauth/authorize` it goes to the application in a redirect. `latchkey scope list` shows the described scopes, and `latchkey app get APP_ID` those of the application. From `admin.links.approve` it means that more was to be approved than the application had asked for.',
  },
  access_denied: {
    status: 303,
    error: 'access_denied',
    title: 'The user did not allow the link',
    description: 'The account was not linked. Let the user start again if that was not intended.',
    help: 'The user denied, or gave up at the sign-in page: show the user a way to start again. If the user took longer than an hour, error is access_denied too, but error_code is link_expired.',
  },
  link_expired: {
    status: 410,
    error: 'invalid_request',
    title: 'The link request is older than an hour',
    description:
      'This link request is older than an hour and has expired. The user can start again at the application, where redirect_to leads.',
    help: 'A link request is valid for 3600 seconds. `redirect_to` tells the application `access_denied`. If nobody vouches for its redirect URI, it is a page of the service with a link that does.',
    members: ['redirect_to'],
  },
  link_decided: {
    status: 409,
    error: 'invalid_request',
    title: 'The link request is decided',
    description:
      'This link request was already approved or denied, and a decision is final. Let the user start again at the application.',
    help: '`status` says what was decided. The same decision again, with the same account and scope and from the same place, has the same response. Any other gets this error.',
    members: ['status'],
  },
  account_changed: {
    status: 409,
    error: 'invalid_request',
    title: 'Another account was identified',
    description:
      'This link request was identified for another account than the approved one. Nothing was decided. Identify the account that is signed in, and ask its user.',
    help: 'Somebody else has signed in at the host since the question was shown, or the approval names the wrong account.',
  },
  link_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such link request',
    description:
      'There is no open link request for this link. Check that the link is complete and the last one that came to the sign-in page. Otherwise let the user start again at the application.',
    help: 'The link was cut short, is older than four hours, or was replaced when the user asked for another account; or its application was disabled or deleted, or the redirect URI or a scope that it asks for was taken away.',
  },
  page_expired: {
    status: 410,
    error: 'invalid_request',
    title: 'The page has expired',
    description:
      'This page was opened before, is too old, or belongs to another browser. Go back to where you came from and open it again.',
    help: 'The address of a page opens it within 300 seconds, in one browser: the first that comes back with a cookie of the page. A page also ends when a newer one is created for the same link request. `latchkey explain` tells which cause it was.',
  },
  cookies_refused: {
    status: 400,
    error: 'invalid_request',
    title: 'The browser keeps no cookie of the page',
    description:
      'The page needs a cookie of this host, and the browser has not kept it. Allow cookies for this host, or open the link in your usual browser, and start again in the application.',
    help: 'The browser opened the page a moment ago and came back without its cookie: its settings block cookies, an extension removes them, or a proxy drops `Cookie` or `Set-Cookie`.',
  },
  prefetch_refused: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'Nobody has opened the page yet',
    description:
      'A page is shown when somebody opens it, not in advance. Open the link. Nothing was used up.',
    help: 'A browser, an extension or a proxy asked for a page before anybody followed the link to it: `Sec-Purpose`, `Purpose`, `X-Purpose` or `X-Moz` has `prefetch`, `prerender` or `preview`.',
  },
  form_rejected: {
    status: 403,
    error: 'invalid_request',
    title: 'The form did not come from this page',
    description:
      'This form was not sent by the page that it belongs to, so nothing was changed. Open the page again and press the button there.',
    help: 'Another site tried to send the form, or an old copy of the page was used. A proxy that changes `Origin` or `Sec-Fetch-Site` causes it too.',
  },
  grant_type_unsupported: {
    status: 400,
    error: 'unsupported_grant_type',
    title: 'The grant type is not supported',
    description:
      'This service supports only grant_type=authorization_code. A grant lives until it is revoked, so there is nothing to refresh.',
    help: 'Turn refresh tokens off in the OAuth library of the application: the response has no `refresh_token` and no `expires_in`.',
  },
  redirect_uri_mismatch: {
    status: 400,
    error: 'invalid_grant',
    title: 'The redirect URI does not match',
    description:
      'The redirect_uri is not the one that the code was sent to, or it was left out. Send the same redirect_uri as in the authorization request. The code was not consumed.',
    help: 'Compare both character for character, with the port and the slash at the end. With a code challenge it may be left out.',
  },
  code_verifier_mismatch: {
    status: 400,
    error: 'invalid_grant',
    title: 'The code verifier does not match',
    description:
      'The code_verifier does not belong to the code_challenge of this code, or one of them is missing. Send the verifier of the same authorization request. The code was not consumed.',
    help: 'Two links in two tabs have a verifier each: keep it by `state`. Otherwise, somebody may have put a code of their own into the callback.',
  },
  token_of_another_application: {
    status: 400,
    error: 'invalid_request',
    title: 'The token belongs to another application',
    description:
      'This token is active, but it was issued to another application, and only that one can revoke it. Nothing was changed.',
    help: 'The application has mixed up its credentials, or has a token that is not its own. If the token leaked, the operator can end the grant with `latchkey grant revoke`.',
  },
  application_public: {
    status: 409,
    error: 'invalid_request',
    title: 'The application is public',
    description:
      'This application is public and has no secret. If it can keep one, create a new application that is not public.',
    help: 'Whether an application is public is fixed at its creation.',
  },
  scope_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such scope',
    description: 'There is no description of this scope. List the scopes to find the right name.',
    help: '`latchkey scope list` and GET /admin/scopes show every described scope.',
  },
  scope_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'There are 200 scopes',
    description:
      'There are descriptions of 200 scopes, which is the maximum. Delete one that is no longer used, then try again.',
    help: 'Deleting a description ends no grant.',
  },
  target_unknown: {
    status: 400,
    error: 'invalid_target',
    title: 'The resource cannot be asked for',
    description:
      'The resource is not one of this service, or was sent twice. Ask for a resource that is registered, or leave it out.',
    help: 'From `/oauth/authorize` it goes to the application in a redirect. `latchkey resource list` shows the resources.',
  },
  target_mismatch: {
    status: 400,
    error: 'invalid_target',
    title: 'The resource does not match',
    description:
      'The resource is not the one that the code is for. Send the resource of the authorization request, or leave it out. The code was not consumed.',
    help: 'A code that was issued without a resource is for the service itself: its `resource` is the base URL with `/v1`.',
  },
  resource_mismatch: {
    status: 403,
    error: 'insufficient_scope',
    title: 'The grant is for a resource',
    description:
      'The grant is for a resource, and only that resource accepts it. Send it there, or link the account again without a resource.',
    help: 'The grant is active. `GET /v1/grant` shows its `resource`, and `GET /v1/account` takes only grants without a resource.',
  },
  client_keys_unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The keys of the application cannot be fetched',
    description:
      "The keys that the client_assertion has to be verified with could not be fetched from the application's address, and nothing was changed. Wait for the number of seconds in Retry-After, then try again.",
    help: 'The server with the keys did not respond, or its response is not a set of keys. A code that was sent stays valid until it expires.',
    retryAfter: 5,
  },
  application_documented: {
    status: 409,
    error: 'invalid_request',
    title: 'Only the document of the application can change this',
    description:
      'The application describes itself in a document, so only its scopes, default_scopes, idle_days and grants_per_account can be changed here, and it has no secrets. Leave the other members out.',
    help: 'Nothing was changed. `document_uri` names the document. The application can be disabled and deleted like any other.',
  },
  resource_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such resource',
    description: 'There is no resource with this id. List the resources to find the right id.',
    help: '`latchkey resource list` and GET /admin/resources show every resource with its id.',
  },
  resource_exists: {
    status: 409,
    error: 'invalid_request',
    title: 'The resource exists',
    description:
      'There is a resource with this address. Update that one, or delete it and create it again.',
    help: 'Two addresses are the same if they are equal without a default port and a slash at the end, with scheme and host in lower case. `latchkey resource list` shows them in this form.',
  },
  resource_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'There are 200 resources',
    description:
      'There are 200 resources, which is the maximum. Delete one that is no longer used, then try again.',
    help: 'Deleting a resource ends no grant.',
  },
  document_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such pinned document',
    description:
      'No document of this address is pinned. List the pinned documents to find the right address.',
    help: '`latchkey document list --pinned` shows them. An address is compared character for character. What is only kept is not unpinned: it is over at its `kept_until`.',
  },
  document_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'There are 100 pinned documents',
    description:
      'There are 100 pinned documents, which is the maximum. Unpin one that is no longer needed, then try again.',
    help: 'A pinned document can be replaced at any time. Unpinning ends no grant: the next link fetches the document.',
  },
  key_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such key',
    description:
      'There is no key with this id. Compare it with the list of the keys: a deleted key is gone from it.',
    help: 'The id is that of the key, not its name and not the key itself. `latchkey key list` shows the ids.',
  },
  key_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'There are 50 live keys',
    description:
      'There are 50 live keys, which is the maximum. Delete one that is no longer used (see last_used_at), then try again.',
    help: 'Expired keys are listed but do not count.',
  },
  endpoint_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such endpoint',
    description:
      'There is no endpoint with this id, or it was deleted. List the endpoints to find the right id.',
    help: '`latchkey endpoint list` and GET /admin/endpoints show every endpoint with its id. Those of a deleted application are gone with it.',
  },
  endpoint_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'The limit on endpoints is reached',
    description:
      'The application has 3 endpoints, or the host has 5, which is the maximum. Delete one that is no longer used, or update it, then try again.',
    help: 'Disabled endpoints count too. Update one that is there.',
  },
  endpoint_disabled: {
    status: 409,
    error: 'invalid_request',
    title: 'The endpoint is disabled',
    description:
      'Nothing is sent to a disabled endpoint. See its disabled_reason, enable it, then try again.',
    help: '`disabled_reason` is `operator` if it was disabled here, `gone` if its receiver responded with 410, and `failing` if each try failed for 5 days. `latchkey endpoint update ID --enable` enables it.',
  },
  delivery_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'There is no such delivery',
    description:
      'There is no delivery with this id, or its message was erased. List the deliveries of the endpoint or of the grant to find the right id.',
    help: 'A delivery is deleted 30 days after its end. One whose endpoint was deleted, or that told of a change of an erased account, is still listed, but cannot be retried.',
  },
  delivery_pending: {
    status: 409,
    error: 'invalid_request',
    title: 'The delivery is pending',
    description: 'The delivery is being tried, or is due now. Wait for the end of its try.',
    help: 'A delivery can be retried once it has ended, or while it waits for a later try.',
  },
  secret_not_found: {
    status: 404,
    error: 'invalid_request',
    title: 'The application has no such secret',
    description:
      'This application has no secret with this id. It may have been removed. Get the application to see its secrets.',
    help: 'Use the id of the secret record (`secrets[].id`), not the secret itself.',
  },
  secret_limit_reached: {
    status: 409,
    error: 'invalid_request',
    title: 'The application has 5 live secrets',
    description:
      'This application has 5 live secrets, which is the maximum. Remove a secret that is no longer used (see last_used_at), then try again.',
    help: 'Expired secrets are listed but do not count.',
  },
  application_enabled: {
    status: 409,
    error: 'invalid_request',
    title: 'The application is enabled',
    description:
      'This application is enabled, and only a disabled application can be deleted. Disable it, check that nobody misses it, then delete it.',
    help: '`latchkey app disable` can be undone, deleting cannot.',
  },
  rate_limited: {
    status: 429,
    error: 'temporarily_unavailable',
    title: 'Too many requests',
    description:
      'Too many requests were sent in a short time, and this one changed nothing. Wait for the number of seconds in Retry-After, then try again.',
    help: 'The application sent too many requests, or too many unknown or expired codes; or too many requests with invalid credentials, or too many new links, came from this address. The RateLimit headers give the limit, what is left of it, and the seconds until the window ends.',
    retryAfter: 1,
  },
  shutting_down: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The service is shutting down',
    description:
      'This process is shutting down and will soon take no more requests. Send requests to another process.',
    help: 'Only GET /readyz returns this error, for DRAIN_SECONDS after SIGTERM, so that a load balancer stops routing to the process. The process handles every other request.',
    retryAfter: 1,
  },
  store_unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The database is unavailable',
    description:
      'The service cannot use its database right now, and nothing was changed. Wait for the number of seconds in Retry-After, then try again.',
    help: 'For operators: the log has the cause under the same request id, and GET /readyz shows when the database responds again.',
    retryAfter: 1,
  },
  store_full: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'The database is running out of room',
    description:
      'The service keeps nothing new until its operator makes room, and nothing was changed. Wait for the number of seconds in Retry-After, then try again.',
    help: 'Everything that was linked still works, and can be ended. For operators: make room on the disk of the database. MIN_FREE_MB says how much has to be free, and latchkey_store_free_bytes how much is.',
    retryAfter: 60,
  },
  outcome_unknown: {
    status: 503,
    error: 'temporarily_unavailable',
    title: 'It is not known whether the change was made',
    description:
      'The database failed after the change was sent, and the outcome could not be read back. After convert, recover the grant named by grant_id; if that returns 404, convert the code again. After revoke, revoke again.',
    help: 'The change was made completely or not at all. Repeat the step named in the description until it succeeds.',
    members: ['grant_id'],
    retryAfter: 1,
  },
  internal_error: {
    status: 500,
    error: 'server_error',
    title: 'The service failed',
    description:
      'The service failed unexpectedly. Try again later. If the error persists, give the request_id to the operator of the service.',
    help: 'The log of the service has the cause under the same request id. Please report it.',
  },
} as const satisfies Record<ErrorCode, ErrorDefinition>;

/** Every {@link ErrorCode}, in the order of the docs. */
export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The row of an error, with the wide type instead of the literal types of the table. */
export function errorDefinition(code: ErrorCode): ErrorDefinition {
  return errorTable[code];
}

/**
 * The OAuth error word, `error` on the wire. A request with a grant addresses a protected resource,
 * where invalid credentials are an `invalid_token` (RFC 6750, section 3.1). Applications and the
 * operator are OAuth clients.
 *
 * @param caller - who may call the operation; null if the request matched no operation
 */
export function errorWord(code: ErrorCode, caller: Caller | null): string {
  const { error } = errorDefinition(code);
  return caller === 'grant' && error === 'invalid_client' ? 'invalid_token' : error;
}
