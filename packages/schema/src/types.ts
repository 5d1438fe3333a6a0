// Made from errors.ts, objects.ts and events.ts: npm run generate

/** Every `error_code` that this version knows. */
export type ErrorCode =
  | 'credentials_missing'
  | 'credentials_invalid'
  | 'application_disabled'
  | 'right_missing'
  | 'body_malformed'
  | 'parameter_invalid'
  | 'media_type_unsupported'
  | 'body_too_large'
  | 'batch_too_large'
  | 'route_not_found'
  | 'method_not_allowed'
  | 'code_not_found'
  | 'code_expired'
  | 'code_already_used'
  | 'grant_not_found'
  | 'grant_not_recoverable'
  | 'application_not_found'
  | 'account_not_found'
  | 'client_unknown'
  | 'client_document_invalid'
  | 'client_document_unavailable'
  | 'registration_invalid'
  | 'registration_redirect_refused'
  | 'redirect_uri_unregistered'
  | 'state_invalid'
  | 'response_type_unsupported'
  | 'challenge_required'
  | 'scope_unknown'
  | 'access_denied'
  | 'link_expired'
  | 'link_decided'
  | 'account_changed'
  | 'link_not_found'
  | 'page_expired'
  | 'cookies_refused'
  | 'prefetch_refused'
  | 'form_rejected'
  | 'grant_type_unsupported'
  | 'redirect_uri_mismatch'
  | 'code_verifier_mismatch'
  | 'token_of_another_application'
  | 'application_public'
  | 'scope_not_found'
  | 'scope_limit_reached'
  | 'target_unknown'
  | 'target_mismatch'
  | 'resource_mismatch'
  | 'client_keys_unavailable'
  | 'application_documented'
  | 'resource_not_found'
  | 'resource_exists'
  | 'resource_limit_reached'
  | 'document_not_found'
  | 'document_limit_reached'
  | 'key_not_found'
  | 'key_limit_reached'
  | 'endpoint_not_found'
  | 'endpoint_limit_reached'
  | 'endpoint_disabled'
  | 'delivery_not_found'
  | 'delivery_pending'
  | 'secret_not_found'
  | 'secret_limit_reached'
  | 'application_enabled'
  | 'rate_limited'
  | 'shutting_down'
  | 'store_unavailable'
  | 'store_full'
  | 'outcome_unknown'
  | 'internal_error';

/** The account that a grant is about. */
export interface Account {
  object: 'service_account';
  /** Identifies the account and never changes. A UUID in lower case. */
  id: string;
  /** 1 to 200 characters. It may change: identify an account by its `id`. */
  username: string;
  /** The name of the account's owner, 1 to 200 characters. */
  display_name: string;
  /** A social handle of the account; null if it has none. */
  twitter: string | null;
  /** Whether the service marks the account as verified. */
  verified: boolean;
  /** Whether the service marks the account as a supporter. */
  supporter: boolean;
}

/** An account, as its operator put it. */
export interface AccountEntry extends Account {
  /** The service's own id of the account, as it is now; null if it has none. */
  external_id: string | null;
}

/** What the user chose, such as a workspace. */
export interface Choice {
  /** The host's own id of it. */
  id: string;
  /** What the user saw of it at the decision: 1 to 100 characters, or the id. */
  label: string;
}

/** A grant with its secret, as `convert` and `recover` return it. The secret is shown only once. */
export interface FullGrant {
  object: 'oauth_grant';
  /** Identifies the grant, for example to revoke it. Store it. A UUID in lower case. */
  grant_id: string;
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** Authorizes requests about the account. Store it encrypted; it is not shown again. */
  grant_secret: string;
  revoked: false;
  /** The account as it was when the code was issued. */
  account: Account;
}

/** A grant without its secret. */
export interface GrantDescription {
  object: 'oauth_grant';
  /** Identifies the grant. A UUID in lower case. */
  grant_id: string;
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** The application that the grant belongs to. A UUID in lower case. */
  application_id: string;
  /**
   * The address at which the application describes itself, which is its client_id; null if an
   * operator registered it.
   */
  document_uri: string | null;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /** What the user chose at the consent, such as a workspace; null for nothing. */
  choice: Choice | null;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  revoked: false;
  /** The account as it was when the code was issued. */
  account: Account;
  /** The service's own id of the account, as it is now; null if it has none. */
  external_id: string | null;
}

/** A revoked grant. */
export interface RevokedGrant {
  object: 'oauth_grant';
  /** Identifies the grant. A UUID in lower case. */
  grant_id: string;
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  revoked: true;
}

/** A grant in a list for the operator. */
export interface GrantEntry {
  object: 'oauth_grant';
  /** Identifies the grant. A UUID in lower case. */
  grant_id: string;
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** The application that the grant belongs to. A UUID in lower case. */
  application_id: string;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /** What the user chose at the consent, such as a workspace; null for nothing. */
  choice: Choice | null;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** Whether it was revoked. */
  revoked: boolean;
  /** When it was revoked; null if it was not. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  revoked_at: string | null;
  /**
   * When its secret last authorized a request, at most 24 hours too early; null if it never did.
   * ISO 8601, such as `2026-11-21T02:15:30.123+00:00`.
   */
  last_used_at: string | null;
  /** The account as it was when the code was issued. */
  account: Account;
}

/** A secret of an application, without the secret itself. */
export interface ApplicationSecret {
  object: 'application_secret';
  /** Identifies the secret, for example to remove it. A UUID in lower case. */
  id: string;
  /** `lk_app_…` and the last four characters, to tell secrets apart. */
  hint: string;
  /** When the secret was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /**
   * When the secret expires; null if it never does. ISO 8601, such as
   * `2026-11-21T02:15:30.123+00:00`.
   */
  expires_at: string | null;
  /**
   * When the secret last authenticated a request, accurate to the minute; null if it never did. ISO
   * 8601, such as `2026-11-21T02:15:30.123+00:00`.
   */
  last_used_at: string | null;
}

/** A new secret of an application, which is shown only once. */
export interface NewApplicationSecret extends ApplicationSecret {
  /** The secret, `lk_app_…`. It is not shown again. */
  secret: string;
}

/** A third-party application. */
export interface Application {
  object: 'application';
  /**
   * Identifies the application. OAuth calls it the client_id, unless it has a document. A UUID in
   * lower case.
   */
  id: string;
  /**
   * The address at which the application describes itself, which is its client_id; null if an
   * operator registered it.
   */
  document_uri: string | null;
  /** The name that users see, 1 to 200 characters. */
  name: string;
  /** While true, its secrets and grants are refused with `application_disabled`. */
  disabled: boolean;
  /** When the application was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** Its secrets, including expired ones. */
  secrets: ApplicationSecret[];
  /** The redirect URIs. One must be sent unchanged; only the port of a loopback address may differ. */
  redirect_uris: string[];
  /** The scopes it may ask for; null for every described one. */
  scopes: string[] | null;
  /** The scopes of a request that names none; null for none. */
  default_scopes: string[] | null;
  /** Shown on the consent page. */
  logo_uri: string | null;
  /** Linked on the consent page. */
  homepage_uri: string | null;
  /** Its privacy policy, linked on the consent page. */
  policy_uri: string | null;
  /** Its terms of service, linked on the consent page. */
  tos_uri: string | null;
  /** Whether it has no secret, such as a native application or a command line. */
  public: boolean;
  /** Whether it may introspect the grants of every application. */
  resource_server: boolean;
  /** Whether each of its authorization requests needs a code_challenge. */
  challenge_required: boolean;
  /** Days after which a grant that is not used ends; null for never. */
  idle_days: number | null;
  /** How many grants of one account stay after a conversion, the newest ones; null for all. */
  grants_per_account: number | null;
}

/** A deleted application, as it was. */
export interface DeletedApplication extends Application {
  /**
   * None of its secrets, codes and grants works, in both states. `deleting`: not all of its grants
   * are written down as revoked yet, which the service does in the background. `deleted`: they are.
   */
  state: 'deleting' | 'deleted';
}

/** A new application with its first secret, which is shown only once. */
export interface NewApplication extends Application {
  /** The secret, `lk_app_…`. It is not shown again. Absent if the application is public. */
  secret?: string | undefined;
}

/** A new code, which is shown only once. */
export interface IssuedCode {
  object: 'grant_code';
  /** `lk_code_…`. Travels to the application through the user's browser, and works once. */
  code: string;
  /** The id of the grant that the code is converted into. A UUID in lower case. */
  grant_id: string;
  /** The application that can convert it. A UUID in lower case. */
  application_id: string;
  /** The account that the grant is about. A UUID in lower case. */
  account_id: string;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /** What the user chose at the consent, such as a workspace; null for nothing. */
  choice: Choice | null;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** 300 seconds after the code was issued. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string;
}

/** A code that was cancelled before it was converted. */
export interface CancelledCode {
  object: 'grant_code';
  /** The id of the grant that the code would have become. A UUID in lower case. */
  grant_id: string;
  /** The application that could have converted it. A UUID in lower case. */
  application_id: string;
  /** The account that it was about. A UUID in lower case. */
  account_id: string;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /** What the user chose at the consent, such as a workspace; null for nothing. */
  choice: Choice | null;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** When it would have expired. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string;
  cancelled: true;
}

/** A scope and its description. Applications can ask only for described scopes. */
export interface Scope {
  object: 'scope';
  /** The scope token (RFC 6749 section 3.3). */
  scope: string;
  /** What the scope allows, in a few words, 1 to 100 characters. */
  title: string;
  /** What the scope allows, in a sentence, 1 to 300 characters; null for none. */
  description: string | null;
  /** The same in other languages, by language tag (BCP 47). */
  texts: Record<
    string,
    {
      /** What the scope allows, in a few words, 1 to 100 characters. */
      title: string;
      /** What the scope allows, in a sentence, 1 to 300 characters; null for none. */
      description?: string | null | undefined;
    }
  >;
  /** Whether it lets an application act, or costs something: shown apart on the consent page. */
  sensitive: boolean;
}

/** A server that grants can be for. */
export interface Resource extends LinkedResource {
  /** Identifies the resource. A UUID in lower case. */
  id: string;
  /** The scopes that can be asked for with it; null for every described one. */
  scopes: string[] | null;
  /** The scopes of a request that names none; null for those of the application. */
  default_scopes: string[] | null;
  /** When the resource was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
}

/** What an application says of itself. */
export interface ClientDocument {
  object: 'client_document';
  /** The address of the document, which is the client_id of its application. */
  document_uri: string;
  /** Identifies its application; null before the first approval. A UUID in lower case. */
  application_id: string | null;
  /** The name of its application, 1 to 200 characters. */
  name: string;
  /** The redirect URIs of the document that are taken here. */
  redirect_uris: string[];
  /** How its application authenticates; none if anybody can call as it. */
  method: 'private_key_jwt' | 'none';
  /** Whether it is used until it is unpinned, without a fetch. */
  pinned: boolean;
  /** When it was pinned, or fetched. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  kept_at: string;
  /**
   * Until when it is used while its server fails; null if it is pinned. ISO 8601, such as
   * `2026-11-21T02:15:30.123+00:00`.
   */
  kept_until: string | null;
}

/** A credential of the operator, with a role. */
export interface Key {
  object: 'key';
  /** Identifies the key, for example to delete it. A UUID in lower case. */
  id: string;
  /** Who or what uses the key, 1 to 200 characters. */
  name: string;
  /** What the key may do. It never changes. */
  role: 'read' | 'host' | 'support' | 'operate';
  /** `lk_key_…` and the last four characters, to tell keys apart. */
  hint: string;
  /** When the key was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** When the key expires; null if it never does. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string | null;
  /**
   * When the key last authenticated a request, accurate to the minute; null if it never did. ISO
   * 8601, such as `2026-11-21T02:15:30.123+00:00`.
   */
  last_used_at: string | null;
}

/** A new key, which is shown only once. */
export interface NewKey extends Key {
  /** The key, `lk_key_…`. It is not shown again. */
  secret: string;
}

/** An address that is told of events. */
export interface Endpoint {
  object: 'endpoint';
  /** Identifies the endpoint. A UUID in lower case. */
  id: string;
  /** The application that is told; null for the host. A UUID in lower case. */
  application_id: string | null;
  /**
   * The address that is told. For keys with the roles `read` and `support`, it is the origin, with
   * `/…` in place of a path and a query.
   */
  url: string;
  /** What it is told; null for everything. Pings are always sent. */
  types:
    | (
        | 'grant.created'
        | 'grant.revoked'
        | 'account.updated'
        | 'application.disabled'
        | 'application.enabled'
      )[]
    | null;
  /** Whether it is told of nothing. */
  disabled: boolean;
  /**
   * `operator` disabled it, its receiver responded with 410 (`gone`), or each try failed for 5 days
   * (`failing`); null if it is enabled.
   */
  disabled_reason: 'operator' | 'gone' | 'failing' | null;
  /** When the endpoint was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /**
   * When a message was last delivered; null for never. ISO 8601, such as
   * `2026-11-21T02:15:30.123+00:00`.
   */
  last_success_at: string | null;
  /**
   * Since when each try has failed; null if the last one did not. ISO 8601, such as
   * `2026-11-21T02:15:30.123+00:00`.
   */
  failing_since: string | null;
}

/** An endpoint with a new secret, which is shown only once. */
export interface NewEndpoint extends Endpoint {
  /** Verifies the signatures of messages, `whsec_…` (Standard Webhooks). It is not shown again. */
  secret: string;
}

/** A try of a `Delivery`. */
export interface Attempt {
  /** When it began. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  at: string;
  /** How many milliseconds it took until the headers of the response, or until it failed. */
  duration_ms: number;
  /**
   * `delivered`; `refused` by a status that is neither 2xx nor 3xx; `redirected` by a 3xx, which is
   * not followed; `timeout`; `connection_failed` without a name, a connection or HTTP;
   * `tls_failed`; `address_refused` if the service may not connect to the address.
   */
  result:
    | 'delivered'
    | 'refused'
    | 'redirected'
    | 'timeout'
    | 'connection_failed'
    | 'tls_failed'
    | 'address_refused';
  /** The status of the response; null for none. */
  status_code: number | null;
}

/** One event for one endpoint. */
export interface Delivery {
  object: 'delivery';
  /** Identifies the delivery, for example to retry it. A UUID in lower case. */
  id: string;
  /** The endpoint that is told. A UUID in lower case. */
  endpoint_id: string;
  /** The event. Its `webhook-id` is `evt_` and this id, for every endpoint. A UUID in lower case. */
  event_id: string;
  /** What happened. */
  type:
    | 'grant.created'
    | 'grant.revoked'
    | 'account.updated'
    | 'application.disabled'
    | 'application.enabled'
    | 'ping';
  /** The grant that it is about; null for none. A UUID in lower case. */
  grant_id: string | null;
  /** The account that it is about; null for none. A UUID in lower case. */
  account_id: string | null;
  /**
   * `pending`, `delivered`, `failed` if it was given up, or `dropped` if there is nobody to tell
   * any more.
   */
  status: 'pending' | 'delivered' | 'failed' | 'dropped';
  /** When the event happened. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /**
   * When it is tried next; null during a try, and if it has ended. ISO 8601, such as
   * `2026-11-21T02:15:30.123+00:00`.
   */
  next_attempt_at: string | null;
  /** The last 10 tries, oldest first. */
  attempts: Attempt[];
}

/** Deliveries that are tried again. */
export interface Replay {
  object: 'replay';
  /** Identifies the endpoint. A UUID in lower case. */
  endpoint_id: string;
  /** How many deliveries are due again. */
  count: number;
}

/** What the caller is and may do. */
export interface Self {
  object: 'operator';
  /** The key; null for the ADMIN_SECRET. A UUID in lower case. */
  key_id: string | null;
  /** Its name; null for the ADMIN_SECRET. */
  name: string | null;
  /** Its role; `root` for the ADMIN_SECRET, which may do everything. */
  role: 'root' | 'read' | 'host' | 'support' | 'operate';
  /** The operations that the caller may call. */
  may: string[];
}

/** A setting in force. */
export interface Setting {
  /** The name of the setting, as in `docs/operations/install.md`. */
  name: string;
  /**
   * The value in force, as text. Null if there is none, and always for a secret. DATABASE_URL is
   * without user, password and query.
   */
  value: string | null;
  /**
   * Where the value comes from: `default` if it is not set, `environment` for a variable, `file`
   * for a file that NAME_FILE names.
   */
  source: 'default' | 'environment' | 'file';
}

/** The settings in force, without secrets. */
export interface Settings {
  object: 'settings';
  /** Every setting, in the order of the docs. */
  data: Setting[];
}

/** What users see of an application. */
export interface ApplicationProfile {
  object: 'application_profile';
  /** Identifies the application. A UUID in lower case. */
  id: string;
  /**
   * The address at which the application describes itself, which is its client_id; null if an
   * operator registered it.
   */
  document_uri: string | null;
  /** The name of the application. */
  name: string;
  /** The address of its logo; null if it has none. */
  logo_uri: string | null;
  /** The address of its homepage; null if it has none. */
  homepage_uri: string | null;
  /** The address of its privacy policy; null if it has none. */
  policy_uri: string | null;
  /** The address of its terms of service; null if it has none. */
  tos_uri: string | null;
  /**
   * Whether the operator vouches for it: it is registered, or its host is listed. Otherwise a
   * stranger says who it is.
   */
  vouched: boolean;
}

/** An application with active grants of an account. */
export interface Connection {
  object: 'connection';
  /** The application that is connected. */
  application: ApplicationProfile;
  /** What its active grants allow. A scope without a description has its name as title. */
  scopes: Scope[];
  /** What the user chose for its active grants, each once, by label. */
  choices: Choice[];
  /** When its oldest active grant was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  connected_at: string;
  /**
   * When one of its active grants was last used, at most 24 hours too early; null if none was. ISO
   * 8601, such as `2026-11-21T02:15:30.123+00:00`.
   */
  last_used_at: string | null;
  /** Its active grants, newest first; of more than 100 the newest 100. */
  grants: {
    /** Identifies the grant. A UUID in lower case. */
    grant_id: string;
    /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
    created_at: string;
    /** Space-separated scope tokens (RFC 6749 section 3.3). */
    scope: string;
    /** What the user chose at the consent, such as a workspace; null for nothing. */
    choice: Choice | null;
  }[];
  /** How many active grants it has. */
  grants_total: number;
}

/** What a disconnect has ended. */
export interface RevokedGrantList {
  object: 'list';
  /**
   * The grants that were written down as revoked in this call, newest first, at most 1,000. Empty
   * does not mean that there were none.
   */
  data: RevokedGrant[];
  next_cursor: null;
  /**
   * Every grant that was active before the call has ended, and every code, in both states.
   * `revoking`: not all of it is written down yet, which the service does in the background.
   * `revoked`: it is.
   */
  state: 'revoking' | 'revoked';
}

/** A page for one account. */
export interface Page {
  object: 'page';
  /** Identifies the page. A UUID in lower case. */
  id: string;
  page: 'connections';
  /** The account that the page is about. A UUID in lower case. */
  account_id: string;
  /** Opens the page once: send the browser there. */
  url: string;
  /** Until when the url can be opened. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string;
}

/** The pages of an account have ended. */
export interface PagesEnded {
  object: 'pages_ended';
  /** The account whose pages have ended. A UUID in lower case. */
  account_id: string;
}

/** The state of a link request. */
export type LinkStatus = 'open' | 'identified' | 'approved' | 'denied';

/** Where an application takes its responses: on the web, or on the device of the user. */
export type RedirectKind = 'web' | 'loopback' | 'app';

/** The application of a link request. */
export interface LinkApplication {
  object: 'application_profile';
  /**
   * Identifies the application. Null if it has a document, and no link of it was approved yet. A
   * UUID in lower case.
   */
  id: string | null;
  /**
   * The address at which the application describes itself, which is its client_id; null if an
   * operator registered it.
   */
  document_uri: string | null;
  /** The name of the application. */
  name: string;
  /** The address of its logo; null if it has none. */
  logo_uri: string | null;
  /** The address of its homepage; null if it has none. */
  homepage_uri: string | null;
  /** The address of its privacy policy; null if it has none. */
  policy_uri: string | null;
  /** The address of its terms of service; null if it has none. */
  tos_uri: string | null;
  /**
   * Whether the operator vouches for it: it is registered, or its host is listed. Otherwise a
   * stranger says who it is.
   */
  vouched: boolean;
  /** Whether it has no secret: any program can say that it is this application. */
  public: boolean;
}

/** The resource of a link request. */
export interface LinkedResource {
  object: 'resource';
  /** The address of the server that the grants are for. It never changes. */
  resource: string;
  /** The name that users see. */
  name: string;
}

/** A request of an application to link an account. */
export interface LinkRequest {
  object: 'link_request';
  /** Identifies the link request. A UUID in lower case. */
  id: string;
  /** `approved` and `denied` are final. */
  status: LinkStatus;
  /** The application that asks. */
  application: LinkApplication;
  /** The resource that the grant will be for; null for none. */
  resource: LinkedResource | null;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** The same scopes with descriptions. */
  scopes: Scope[];
  /** What the user can allow besides; null for nothing. */
  optional_scope: string | null;
  /** The optional scopes with descriptions. */
  optional_scopes: Scope[];
  /** What the user chose, such as a workspace, if it is approved; null otherwise, and for nothing. */
  choice: Choice | null;
  /** The host of the redirect URI, or its scheme if it is a private one. */
  redirect_host: string;
  /**
   * `web`; `loopback` for a program that listens on the device of the user; `app` for a private
   * scheme.
   */
  redirect_kind: RedirectKind;
  /**
   * Whether the operator vouches for the redirect URI. If not, the browser is led there only once
   * the user has allowed it.
   */
  redirect_vouched: boolean;
  /** The account that the host has identified; null before. A UUID in lower case. */
  account_id: string | null;
  /** What the application knows of the user, as it was sent; null for nothing. */
  login_hint: string | null;
  /** The languages that the application asks for, as they were sent; null for none. */
  ui_locales: string | null;
  /** When the application asked. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** 3600 seconds after it was created. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string;
  /** The id of the grant, if it is approved; null otherwise. A UUID in lower case. */
  grant_id: string | null;
}

/** A link request, and where the host sends the browser next. */
export interface LinkRedirect extends LinkRequest {
  /** Redirect the browser there. It contains a credential: do not log it. */
  redirect_to: string;
}

/** A link request whose account is identified, and where the host sends the browser. */
export interface LinkIdentification extends LinkRequest {
  /**
   * The consent page: redirect the browser there. It contains a credential: do not log it. Null
   * with own_page.
   */
  redirect_to: string | null;
}

/** The response of `/oauth/token` (RFC 6749, section 5.1). There is no `expires_in`. */
export interface TokenResponse {
  /** The secret of the grant. It works until the grant is revoked. */
  access_token: string;
  token_type: 'Bearer';
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** The same grant as `convert` returns it. */
  grant: FullGrant;
}

/** A client that registered itself (RFC 7591). It has no secret. */
export interface RegisteredClient {
  /** An address of the service, which has all that the client says. */
  client_id: string;
  /** What it calls itself. */
  client_name?: string | undefined;
  /** Those that are taken here. */
  redirect_uris: string[];
  /** Always this one, whatever was asked for. */
  grant_types: 'authorization_code'[];
  /** Always this one, whatever was asked for. */
  response_types: 'code'[];
  token_endpoint_auth_method: 'none';
}

/** Whether a token is active, and for what (RFC 7662). */
export type Introspection =
  | {
      active: true;
      /** Space-separated scope tokens (RFC 6749 section 3.3). */
      scope: string;
      /** The application that the grant belongs to. A UUID in lower case. */
      client_id: string;
      token_type: 'Bearer';
      /** The id of the account. A UUID in lower case. */
      sub: string;
      /** The account's username as it is now. */
      username: string;
      /** The service's own id of the account, as it is now; null if it has none. */
      external_id: string | null;
      /** What the user chose at the consent, such as a workspace; null for nothing. */
      choice: Choice | null;
      /** The address of the service. */
      iss: string;
      /** What the grant is for: its resource, or the address of the service with `/v1`. */
      aud: string;
      /** When the code was converted, in seconds since 1970. */
      iat: number;
      /** Identifies the grant. A UUID in lower case. */
      grant_id: string;
    }
  | {
      active: false;
    };

/** An erased account. */
export interface AccountErasure {
  object: 'account_erasure';
  /** The id of the account. A UUID in lower case. */
  id: string;
  /**
   * Nothing of the account works, and no reader gets its data, in both states. `erasing`: some of
   * it is still stored, and the service removes it in the background. `erased`: nothing is, also of
   * an account that was never known.
   */
  state: 'erasing' | 'erased';
  /**
   * How many grants were written down as revoked in this call. 0 does not mean that there were
   * none.
   */
  grants_revoked: number;
}

/** What a call has ended. */
export interface GrantRevocations {
  object: 'grant_revocations';
  /**
   * Every grant that was active before the call has ended, and every code, in both states.
   * `revoking`: not all of it is written down yet, which the service does in the background.
   * `revoked`: it is.
   */
  state: 'revoking' | 'revoked';
  /**
   * How many grants were written down as revoked in this call. 0 does not mean that there were
   * none.
   */
  grants_revoked: number;
  /** How many codes, which were not converted, were written down as cancelled in this call. */
  codes_cancelled: number;
}

/** A part of the time of a `Summary`. */
export interface SummaryStep {
  /** Its beginning. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  at: string;
  /** How many grants were created. */
  created: number;
  /** How many grants were revoked. */
  revoked: number;
  /** How many calls were refused. */
  refused: number;
}

/** Link requests, in a `Summary`. */
export interface LinkCounts {
  /** How many began. */
  begun: number;
  /** How many of them were approved. */
  approved: number;
  /** How many of them were denied. */
  denied: number;
  /** How many of them were not decided, and began in an hour that ended at least an hour ago. */
  expired: number;
}

/** Grants, in a `Summary`. */
export interface GrantCounts {
  /** How many codes were converted. */
  created: number;
  /**
   * How many were revoked, for each reason: `application`, `user` (on a page), `host` (an operator
   * or a command), `account_erased`, `application_deleted`, `idle` or `replaced`. A reason without
   * any is missing.
   */
  revoked: Record<string, number>;
  /**
   * How many are active now; null before the first count. Counted once a day in the background, and
   * kept up to date in between.
   */
  live: number | null;
}

/** Events and endpoints as they are now, in a `Summary`. */
export interface EventCounts {
  /** How many deliveries are not ended, and events no deliveries yet; at most 10,000. */
  pending: number;
  /** How many seconds ago the oldest of them happened; 0 for none. */
  oldest_seconds: number;
  /** How many enabled endpoints there are whose last try failed. */
  failing_endpoints: number;
}

/**
 * What happened in the last hours. Each process adds what it counted once a minute, so a killed
 * one loses its last minute.
 */
export interface Summary {
  object: 'summary';
  /** The beginning of the first step. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  since: string;
  /** Now. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  until: string;
  /** The link requests that began in the time. */
  links: LinkCounts;
  /** What happened to grants in the time. */
  grants: GrantCounts;
  /**
   * The refused calls that named an application that exists: how many for each error code, and of
   * these for each reason, as `latchkey explain` has it; `-` without one.
   */
  refused: Record<string, Record<string, number>>;
  /** What is still to be told; null if events are off. */
  events: EventCounts | null;
  /** Equal steps of whole hours, oldest first, at most 96. The last one is not over. */
  series: SummaryStep[];
  approximate: true;
}

/** A code that was not converted, in an `AccountExport`. */
export interface CodeEntry {
  object: 'oauth_grant';
  /** The id of the grant that the code would become. A UUID in lower case. */
  grant_id: string;
  /** The application that can convert it. A UUID in lower case. */
  application_id: string;
  /** When it expires. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /** What the user chose at the consent, such as a workspace; null for nothing. */
  choice: Choice | null;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** Whether it was cancelled. */
  revoked: boolean;
  /** When it was cancelled; null if it was not. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  revoked_at: string | null;
  /** The account as it was when the code was issued. */
  account: Account;
}

/** A call that was refused, and what to do about it. */
export interface Refusal {
  object: 'refusal';
  /** When the call was refused. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  at: string;
  /**
   * Identifies the request. A caller may send the same one with several. `[redacted]` stands for a
   * credential.
   */
  request_id: string;
  /**
   * The operation, such as `grants.convert`; on pages also `links.begin`, `links.switch`,
   * `pages.open` and `pages.done`; of clients that register themselves `clients.register` and
   * `clients.get`.
   */
  operation: string;
  /** The code that the caller got. */
  error_code: ErrorCode;
  /**
   * The check that failed, if several have this error code; otherwise null. It is for people: later
   * versions may have others.
   */
  reason: string | null;
  /** What the check has found, for a person. */
  found: string;
  /** What to do about it, for a person. */
  advice: string;
  /** Who called; null if the caller was not authenticated, and its ids are claims. */
  by: 'application' | 'grant' | 'operator' | 'command_line' | 'user' | null;
  /** The application that called or that the call was about; null if unknown. A UUID in lower case. */
  application_id: string | null;
  /** The account that the call was about; null if unknown. A UUID in lower case. */
  account_id: string | null;
  /** The grant, or the grant that the code would become; null if unknown. A UUID in lower case. */
  grant_id: string | null;
  /** The key of the operator; null if it had none. A UUID in lower case. */
  key_id: string | null;
  /** The address of the caller; null if it is not known. */
  address: string | null;
}

/** A change or a refused call, in a `GrantHistory`. */
export interface GrantHistoryEntry {
  /** When it happened. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  at: string;
  /**
   * `issued`, `converted`, `recovered`, `first_used` or `revoked`; otherwise the operation that was
   * refused.
   */
  what: string;
  /** `done`, or the error code of a refusal. */
  result: string;
  /**
   * Of `revoked` why it ended: `application`, `user`, `host`, `account_erased`,
   * `application_deleted`, `idle` or `replaced`. Of a refusal the check that failed. Null if there
   * is none.
   */
  reason: string | null;
  /** Who did it; null if nobody asked for it, or the caller is not known. */
  by: 'application' | 'grant' | 'operator' | 'command_line' | 'user' | null;
  /** Of a refusal, the application that called; otherwise null. A UUID in lower case. */
  application_id: string | null;
  /** The secret that the application used; null if it had none. A UUID in lower case. */
  secret_id: string | null;
  /** The key of the operator; null if it had none. A UUID in lower case. */
  key_id: string | null;
  /** Identifies the request in the log; null if there was none. */
  request_id: string | null;
  /** Of a refusal, the address of the caller, if it is known; otherwise null. */
  address: string | null;
  /** The user who ran a command on the database; null if it was none. */
  os_user: string | null;
}

/** What happened to a grant since its code was issued. */
export interface GrantHistory {
  object: 'grant_history';
  /** The grant, or the grant that the code would become. A UUID in lower case. */
  grant_id: string;
  /** The application of the grant; null if only refused calls are known. A UUID in lower case. */
  application_id: string | null;
  /** The account of the grant; null if it is not known, or no longer. A UUID in lower case. */
  account_id: string | null;
  /** How many times it was recovered; `data` has the last recovery. */
  recoveries: number;
  /** What happened to it and what was refused about it, oldest first. */
  data: GrantHistoryEntry[];
}

/** A change of a grant, in an `AccountExport`. */
export interface ExportedChange {
  /** When it happened. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  at: string;
  /** The operation, such as `grants.convert`; `first_use` for the first request with a grant. */
  operation: string;
  /** Who made it; null if that is not known. */
  by: 'application' | 'grant' | 'operator' | 'command_line' | 'user' | null;
  /** The key of the operator; null if it had none. A UUID in lower case. */
  key_id: string | null;
  /** The grant that it happened to. A UUID in lower case. */
  grant_id: string;
  /**
   * Of a change, the application of the grant; of a refusal, the caller's, if it is known. A UUID
   * in lower case.
   */
  application_id: string | null;
  /** Identifies the request in the log; null if there was none. */
  request_id: string | null;
}

/** A refused call about the account or a grant of it, in an `AccountExport`. */
export interface ExportedRefusal {
  /** When it happened. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  at: string;
  /** The operation, such as `grants.convert`; `first_use` for the first request with a grant. */
  operation: string;
  /** Who made it; null if that is not known. */
  by: 'application' | 'grant' | 'operator' | 'command_line' | 'user' | null;
  /** The key of the operator; null if it had none. A UUID in lower case. */
  key_id: string | null;
  /** The grant that it was about; null if it was about the account alone. A UUID in lower case. */
  grant_id: string | null;
  /**
   * Of a change, the application of the grant; of a refusal, the caller's, if it is known. A UUID
   * in lower case.
   */
  application_id: string | null;
  /** Identifies the request in the log; null if there was none. */
  request_id: string | null;
  /** Why it was refused. */
  error_code: ErrorCode;
}

/** Everything that is stored about an account. It has no credential and no hash. */
export interface AccountExport {
  object: 'account_export';
  /** The account as it is now. */
  account: AccountEntry;
  /** The grants, including revoked ones, newest first. */
  grants: GrantEntry[];
  /** The codes that were not converted, newest first. */
  codes: CodeEntry[];
  /** What happened to the grants and codes, oldest first. */
  history: ExportedChange[];
  /** What was refused about the account and its grants, oldest first, as long as refusals are kept. */
  refusals: ExportedRefusal[];
}

/** One problem with an input. */
export interface ParameterIssue {
  /** The path to the member, such as `["code"]`; empty for the whole input. */
  path: (string | number)[];
  /** What is expected. It never repeats the value. */
  message: string;
}

/** The body of every error over REST. Over tRPC, it is in `error.data`. */
export interface ErrorBody {
  /** The OAuth error word (RFC 6749, section 5.2). */
  error: string;
  /** What happened and what to do next, for a person. */
  error_description: string;
  /** A stable code. Branch on this one. */
  error_code: ErrorCode;
  /** The paragraph about the error in the docs. */
  error_uri: string;
  /** Identifies the request in the log of the service. */
  request_id: string;
  /** Present with `code_already_used` and, if known, with `outcome_unknown`. A UUID in lower case. */
  grant_id?: string | undefined;
  /** Present with `link_decided`. */
  status?: LinkStatus | undefined;
  /** Present with `link_expired`: send the browser there. It leads back to its application. */
  redirect_to?: string | undefined;
  /** Present with `parameter_invalid`. */
  issues?: ParameterIssue[] | undefined;
}

/**
 * Why a grant ended: `application`, `user` (on a page), `host` (an operator or a command),
 * `account_erased`, `application_deleted`, `idle` or `replaced`.
 */
export type EndReason =
  | 'application'
  | 'user'
  | 'host'
  | 'account_erased'
  | 'application_deleted'
  | 'idle'
  | 'replaced';

/** The grant that a code was converted into. */
export interface GrantCreatedData {
  object: 'oauth_grant';
  /** Identifies the grant. A UUID in lower case. */
  grant_id: string;
  /** The application that the grant belongs to. A UUID in lower case. */
  application_id: string;
  /**
   * The account that the grant is about; null if it was deleted before the message was made. A UUID
   * in lower case.
   */
  account_id: string | null;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /**
   * The address at which the application describes itself, which is its client_id; null if an
   * operator registered it.
   */
  document_uri: string | null;
  /**
   * What the user chose at the consent, such as a workspace; null for nothing, or if it was deleted
   * before the message was sent.
   */
  choice: Choice | null;
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /**
   * Space-separated scope tokens (RFC 6749 section 3.3); null if it was deleted before the message
   * was made.
   */
  scope: string | null;
  revoked: false;
}

/** A grant that has ended. It never works again. */
export interface GrantRevokedData {
  object: 'oauth_grant';
  /** Identifies the grant. A UUID in lower case. */
  grant_id: string;
  /** The application that the grant belongs to. A UUID in lower case. */
  application_id: string;
  /**
   * The account that the grant is about; null if it was deleted before the message was made. A UUID
   * in lower case.
   */
  account_id: string | null;
  /** The resource that the grant is for, and the only one; null for none. */
  resource: string | null;
  /**
   * The address at which the application describes itself, which is its client_id; null if an
   * operator registered it.
   */
  document_uri: string | null;
  /**
   * What the user chose at the consent, such as a workspace; null for nothing, or if it was deleted
   * before the message was sent.
   */
  choice: Choice | null;
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  revoked: true;
  /** When it was revoked. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  revoked_at: string;
  /** Why it ended; null if it was deleted before the message was made. */
  reason: EndReason | null;
}

/** An application that was disabled or enabled. */
export interface ApplicationData {
  object: 'application';
  /**
   * Identifies the application. OAuth calls it the client_id, unless it has a document. A UUID in
   * lower case.
   */
  id: string;
  /** The name that users see, 1 to 200 characters. */
  name: string;
  /** Whether it was disabled: the same as the type says. */
  disabled: boolean;
}

/** The endpoint that is tried. */
export interface PingData {
  object: 'endpoint';
  /** The endpoint that was asked for a try. A UUID in lower case. */
  id: string;
}

/** A code was converted into a grant. Told to the endpoints of the host. */
export interface GrantCreatedEvent {
  type: 'grant.created';
  /** When the code was converted. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  timestamp: string;
  /** The grant. */
  data: GrantCreatedData;
}

/** A grant ended, whoever ended it. Told to the endpoints of its application and of the host. */
export interface GrantRevokedEvent {
  type: 'grant.revoked';
  /** When the grant was revoked. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  timestamp: string;
  /** The grant. */
  data: GrantRevokedData;
}

/**
 * An account changed. Told to the endpoints of every application with a live grant of it, and of
 * the host.
 */
export interface AccountUpdatedEvent {
  type: 'account.updated';
  /** When the account changed. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  timestamp: string;
  /** The account as it was when the message was made. */
  data: Account;
}

/** The operator disabled an application. Told to its endpoints and to those of the host. */
export interface ApplicationDisabledEvent {
  type: 'application.disabled';
  /** When it was disabled. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  timestamp: string;
  /** The application. */
  data: ApplicationData;
}

/** The operator enabled an application again. Told to its endpoints and to those of the host. */
export interface ApplicationEnabledEvent {
  type: 'application.enabled';
  /** When it was enabled. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  timestamp: string;
  /** The application. */
  data: ApplicationData;
}

/** The operator asked for a try of one endpoint. */
export interface PingEvent {
  type: 'ping';
  /** When it was asked for. ISO 8601, such as `2026-11-21T02:15:30.123+00:00`. */
  timestamp: string;
  /** The endpoint. */
  data: PingData;
}

/** The body of a message: one fact that has happened. */
export type LatchkeyEvent =
  | GrantCreatedEvent
  | GrantRevokedEvent
  | AccountUpdatedEvent
  | ApplicationDisabledEvent
  | ApplicationEnabledEvent
  | PingEvent;

/** A page of a list, newest first. */
export interface List<Item> {
  object: 'list';
  /** The entries of the page. */
  data: Item[];
  /** Send it as `cursor` to get the next page; null at the end. */
  next_cursor: string | null;
}

/** A list that is complete. */
export interface CompleteList<Item> {
  object: 'list';
  /** All entries of the list. */
  data: Item[];
  next_cursor: null;
}
