// Made from the table of operations: npm run generate

import type {
  AccountEntry,
  AccountErasure,
  AccountExport,
  Application,
  CancelledCode,
  ClientDocument,
  CompleteList,
  Connection,
  DeletedApplication,
  Delivery,
  Endpoint,
  GrantEntry,
  GrantHistory,
  GrantRevocations,
  IssuedCode,
  Key,
  LinkIdentification,
  LinkRedirect,
  LinkRequest,
  List,
  NewApplication,
  NewApplicationSecret,
  NewEndpoint,
  NewKey,
  Page,
  PagesEnded,
  Refusal,
  Replay,
  Resource,
  RevokedGrant,
  RevokedGrantList,
  Scope,
  Self,
  Settings,
  Summary,
} from '@latchkey/schema';
import type { CallOptions } from '../options.ts';
import type { WithResponse } from '../response-details.ts';
import type { ListPromise } from './list-promise.ts';

export type {
  Account,
  AccountEntry,
  AccountErasure,
  AccountExport,
  Application,
  ApplicationProfile,
  ApplicationSecret,
  Attempt,
  CancelledCode,
  Choice,
  ClientDocument,
  CodeEntry,
  CompleteList,
  Connection,
  DeletedApplication,
  Delivery,
  Endpoint,
  EventCounts,
  ExportedChange,
  ExportedRefusal,
  GrantCounts,
  GrantEntry,
  GrantHistory,
  GrantHistoryEntry,
  GrantRevocations,
  IssuedCode,
  Key,
  LinkApplication,
  LinkCounts,
  LinkedResource,
  LinkIdentification,
  LinkRedirect,
  LinkRequest,
  LinkStatus,
  List,
  NewApplication,
  NewApplicationSecret,
  NewEndpoint,
  NewKey,
  Page,
  PagesEnded,
  RedirectKind,
  Refusal,
  Replay,
  Resource,
  RevokedGrant,
  Scope,
  Self,
  Setting,
  Settings,
  Summary,
  SummaryStep,
} from '@latchkey/schema';

/** The input of `accounts.get`, `accounts.erase`, `accounts.export`, `pages.end`. */
export interface AccountIdInput {
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
}

/** The input of `accounts.put`. */
export interface AccountInput {
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /**
   * The name that the account has at the host: 1 to 200 characters. It may change and need not be
   * unique.
   */
  username: string;
  /** The name of the account's owner, at most 200 characters. Default: the username. */
  display_name?: string | undefined;
  /** A social handle of the account, at most 200 characters; null for none. Default: null. */
  twitter?: string | null | undefined;
  /** Whether the service marks the account as verified. Default: false. */
  verified?: boolean | undefined;
  /** Whether the service marks the account as a supporter. Default: false. */
  supporter?: boolean | undefined;
  /**
   * The service's own id of the account. Every linked application sees it; null for none. Default:
   * null.
   */
  external_id?: string | null | undefined;
}

/** The input of `accounts.list`. */
export interface AccountListInput {
  /** Only accounts with exactly this username. */
  username?: string | undefined;
  /** Only accounts with exactly this external id. */
  external_id?: string | undefined;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
}

/**
 * The input of `applications.get`, `applications.disable`, `applications.enable`,
 * `applications.delete`.
 */
export interface ApplicationIdInput {
  /** The id of the application. */
  application_id: string;
}

/** The input of `applications.create`. */
export interface ApplicationInput {
  /** Its name, as users see it on the consent page: 1 to 200 characters. */
  name: string;
  /**
   * Where it may have users sent back to. It must send one of them unchanged; only the port of a
   * loopback address may differ. Default: [].
   */
  redirect_uris?: string[] | undefined;
  /** The scopes that it may ask for; null for every described one. Default: null. */
  scopes?: string[] | null | undefined;
  /**
   * The scopes of its requests that name none, as far as it may ask for them; null for none.
   * Default: null.
   */
  default_scopes?: string[] | null | undefined;
  /**
   * Its logo on the consent page: an https: address, or a data: URL of an image; null for its
   * initials. Default: null.
   */
  logo_uri?: string | null | undefined;
  /** The address of its home page, linked on the consent page; null for none. Default: null. */
  homepage_uri?: string | null | undefined;
  /** The address of its privacy policy, linked on the consent page; null for none. Default: null. */
  policy_uri?: string | null | undefined;
  /** The address of its terms of service, linked on the consent page; null for none. Default: null. */
  tos_uri?: string | null | undefined;
  /**
   * Whether it has no secret, because it could not keep one: a native application or a command
   * line. Default: false.
   */
  public?: boolean | undefined;
  /** Whether it may introspect the grants of every application, not only its own. Default: false. */
  resource_server?: boolean | undefined;
  /**
   * Whether each of its authorization requests needs a code_challenge (PKCE); those of a public
   * application always do. Default: false.
   */
  challenge_required?: boolean | undefined;
  /** The days without use after which a grant ends; null for never. Default: null. */
  idle_days?: number | null | undefined;
  /**
   * How many grants of one account it keeps: a conversion ends the oldest ones beyond them; null
   * for all. Default: null.
   */
  grants_per_account?: number | null | undefined;
}

/** The input of `applications.list`. */
export interface ApplicationListInput {
  /**
   * Only applications that have a client document; false for only those that have none. Default:
   * all.
   */
  documents?: boolean | undefined;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
}

/** The input of `applications.update`. */
export interface ApplicationUpdateInput {
  /** The id of the application. */
  application_id: string;
  /** Its name, as users see it on the consent page: 1 to 200 characters. */
  name?: string | undefined;
  /**
   * Where it may have users sent back to. It must send one of them unchanged; only the port of a
   * loopback address may differ.
   */
  redirect_uris?: string[] | undefined;
  /** The scopes that it may ask for; null for every described one. */
  scopes?: string[] | null | undefined;
  /** The scopes of its requests that name none, as far as it may ask for them; null for none. */
  default_scopes?: string[] | null | undefined;
  /**
   * Its logo on the consent page: an https: address, or a data: URL of an image; null for its
   * initials.
   */
  logo_uri?: string | null | undefined;
  /** The address of its home page, linked on the consent page; null for none. */
  homepage_uri?: string | null | undefined;
  /** The address of its privacy policy, linked on the consent page; null for none. */
  policy_uri?: string | null | undefined;
  /** The address of its terms of service, linked on the consent page; null for none. */
  tos_uri?: string | null | undefined;
  /** Whether it may introspect the grants of every application, not only its own. */
  resource_server?: boolean | undefined;
  /**
   * Whether each of its authorization requests needs a code_challenge (PKCE); those of a public
   * application always do.
   */
  challenge_required?: boolean | undefined;
  /** The days without use after which a grant ends; null for never. */
  idle_days?: number | null | undefined;
  /**
   * How many grants of one account it keeps: a conversion ends the oldest ones beyond them; null
   * for all.
   */
  grants_per_account?: number | null | undefined;
}

/** The input of `codes.issue`. */
export interface CodeIssueInput {
  /** The id of the application. */
  application_id: string;
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /** What the grant allows: scopes with single spaces between them. */
  scope: string;
  /** The redirect URI that a conversion of the code has to send, registered or not. Default: none. */
  redirect_uri?: string | undefined;
  /** The challenge of the verifier that a conversion has to send (RFC 7636, S256). Default: none. */
  code_challenge?: string | undefined;
  /** The address of the registered resource that the grant is for. Default: none. */
  resource?: string | undefined;
  /** What the user has chosen, such as a workspace; null for nothing. Default: null. */
  choice?:
    | {
        /** The host's own id of it. */
        id: string;
        /** What the user sees of it. Default: the id. */
        label?: string | undefined;
      }
    | null
    | undefined;
}

/** The input of `connections.revoke`. */
export interface ConnectionInput {
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /** The id of the application. */
  application_id: string;
}

/** The input of `connections.list`. */
export interface ConnectionListInput {
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
}

/** The input of `deliveries.retry`. */
export interface DeliveryIdInput {
  /** The id of the delivery. */
  delivery_id: string;
}

/** The input of `deliveries.list`. It takes exactly one of `endpoint_id` and `grant_id`. */
export type DeliveryListInput = {
  /** Only deliveries with this status. */
  status?: 'pending' | 'delivered' | 'failed' | 'dropped' | undefined;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
} & (
  | {
      /** The id of the endpoint. */
      endpoint_id: string;
      grant_id?: undefined;
    }
  | {
      /** The id of the grant. Its code has the same id. */
      grant_id: string;
      endpoint_id?: undefined;
    }
);

/** The input of `documents.list`. */
export interface DocumentListInput {
  /** Whether they are pinned. Default: all. */
  pinned?: boolean | undefined;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
}

/** The input of `documents.pin`. */
export interface DocumentPinInput {
  /** The address of the document, character for character. */
  document_uri: string;
  /** The document itself, at most 10 KiB as JSON. */
  document: Record<string, unknown>;
}

/** The input of `documents.unpin`. */
export interface DocumentUriInput {
  /** The address of the document, character for character. */
  document_uri: string;
}

/** The input of `endpoints.get`, `endpoints.delete`, `endpoints.ping`. */
export interface EndpointIdInput {
  /** The id of the endpoint. */
  endpoint_id: string;
}

/** The input of `endpoints.create`. */
export interface EndpointInput {
  /** The address that messages are sent to. */
  url: string;
  /** The id of the application that it belongs to; null for the host. Default: null. */
  application_id?: string | null | undefined;
  /** The types of events that it is told of; null for all that it can be told of. Default: null. */
  types?:
    | (
        | 'grant.created'
        | 'grant.revoked'
        | 'account.updated'
        | 'application.disabled'
        | 'application.enabled'
      )[]
    | null
    | undefined;
}

/** The input of `endpoints.list`. */
export interface EndpointListInput {
  /** Only the endpoints of the application with this id. Default: all. */
  application_id?: string | undefined;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
}

/** The input of `endpoints.rotate`. */
export interface EndpointRotationInput {
  /** The id of the endpoint. */
  endpoint_id: string;
  /**
   * For how many seconds messages are signed with the old secret too: 86400 is a day, 604800 a
   * week. Default: 86400.
   */
  overlap_seconds?: number | undefined;
}

/** The input of `endpoints.update`. */
export interface EndpointUpdateInput {
  /** The id of the endpoint. */
  endpoint_id: string;
  /** The address that messages are sent to. */
  url?: string | undefined;
  /** The types of events that it is told of; null for all that it can be told of. */
  types?:
    | (
        | 'grant.created'
        | 'grant.revoked'
        | 'account.updated'
        | 'application.disabled'
        | 'application.enabled'
      )[]
    | null
    | undefined;
  /** Whether nothing is sent to it; false to send again. */
  disabled?: boolean | undefined;
}

/** The input of `grants.revokeAll`. It takes exactly one of `account_id` and `application_id`. */
export type GrantFilterInput =
  | {
      /** The id of the account: a UUID that the host chooses. */
      account_id: string;
      application_id?: undefined;
    }
  | {
      /** The id of the application. */
      application_id: string;
      account_id?: undefined;
    };

/** The input of `codes.cancel`, `grants.revoke`, `grants.history`. */
export interface GrantIdInput {
  /** The id of the grant. Its code has the same id. */
  grant_id: string;
}

/** The input of `grants.list`. It takes exactly one of `account_id` and `application_id`. */
export type GrantListInput = {
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
} & (
  | {
      /** The id of the account: a UUID that the host chooses. */
      account_id: string;
      application_id?: undefined;
    }
  | {
      /** The id of the application. */
      application_id: string;
      account_id?: undefined;
    }
);

/** The input of `keys.delete`. */
export interface KeyIdInput {
  /** The id of the key. */
  key_id: string;
}

/** The input of `keys.create`. */
export interface KeyInput {
  /** Who or what uses the key, for you: 1 to 200 characters. */
  name: string;
  /**
   * What the key may do, for good: read looks things up, host is the backend of the sign-in page,
   * support also ends what a user asks to end, operate does everything except keys.
   */
  role: 'read' | 'host' | 'support' | 'operate';
  /** When the key stops working, which must lie in the future; null for never. Default: null. */
  expires_at?: string | null | undefined;
}

/** The input of `links.approve`. */
export interface LinkApproveInput {
  /** The link that came to the sign-in page. */
  link: string;
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /**
   * The part of scope and optional_scope of the link request that the user allows, with spaces
   * between scopes. Default: its scope.
   */
  scope?: string | undefined;
  /** What the user has chosen, such as a workspace; null for nothing. Default: null. */
  choice?:
    | {
        /** The host's own id of it. */
        id: string;
        /** What the user sees of it. Default: the id. */
        label?: string | undefined;
      }
    | null
    | undefined;
}

/** The input of `links.identify`. */
export interface LinkIdentifyInput {
  /** The link that came to the sign-in page. */
  link: string;
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /** The language of the page, such as de or pt-BR. Default: that of the browser. */
  locale?: string | undefined;
  /** Whether the host asks the user on a page of its own, instead of on that of the service. */
  own_page?: boolean | undefined;
  /** What the page asks besides, such as which workspace; null for nothing. Default: null. */
  choice?:
    | {
        /** The question that the page asks. */
        title: string;
        /** What the user can choose. */
        options: {
          /** The host's own id of it. */
          id: string;
          /** What the user sees of it. Default: the id. */
          label?: string | undefined;
        }[];
      }
    | null
    | undefined;
}

/** The input of `links.read`, `links.deny`. */
export interface LinkInput {
  /** The link that came to the sign-in page. */
  link: string;
}

/** The input of `pages.create`. */
export interface PageCreateInput {
  page: 'connections';
  /** The id of the account: a UUID that the host chooses. */
  account_id: string;
  /** The address that the page links back to. Default: none. */
  return_url?: string | undefined;
  /** The language of the page, such as de or pt-BR. Default: that of the browser. */
  locale?: string | undefined;
}

/** The input of `refusals.list`. */
export interface RefusalListInput {
  /** The X-Request-Id of the response, which is the request_id of its error. */
  request_id?: string | undefined;
  /** The id of the application. */
  application_id?: string | undefined;
  /** The id of the account: a UUID that the host chooses. */
  account_id?: string | undefined;
  /** The id of the grant. Its code has the same id. */
  grant_id?: string | undefined;
  /** Only refusals of this moment or later, which must not lie in the future. */
  since?: string | undefined;
  /** How many entries a page has at the most. Default: 50. */
  limit?: number | undefined;
  /** The next_cursor of the previous page. Default: the first page. */
  cursor?: string | undefined;
}

/** The input of `endpoints.replay`. */
export interface ReplayInput {
  /** The id of the endpoint. */
  endpoint_id: string;
  /** Only deliveries that ended at this moment or later, which must not lie in the future. */
  since: string;
}

/** The input of `resources.delete`. */
export interface ResourceIdInput {
  /** The id of the resource, which is not its address. */
  resource_id: string;
}

/** The input of `resources.create`. */
export interface ResourceInput {
  /** The address of the server that grants can be for. It never changes. */
  resource: string;
  /** Its name, as users see it on the consent page: 1 to 60 characters. */
  name: string;
  /** The scopes that can be asked for with it; null for every described one. Default: null. */
  scopes?: string[] | null | undefined;
  /**
   * The scopes of requests for it that name none, each of them among its scopes; null for those of
   * the application. Default: null.
   */
  default_scopes?: string[] | null | undefined;
}

/** The input of `resources.update`. */
export interface ResourceUpdateInput {
  /** The id of the resource, which is not its address. */
  resource_id: string;
  /** Its name, as users see it on the consent page: 1 to 60 characters. */
  name?: string | undefined;
  /** The scopes that can be asked for with it; null for every described one. */
  scopes?: string[] | null | undefined;
  /**
   * The scopes of requests for it that name none, each of them among its scopes; null for those of
   * the application.
   */
  default_scopes?: string[] | null | undefined;
  /** Ignored: the address of a resource never changes. */
  resource?: unknown | undefined;
}

/** The input of `scopes.put`. */
export interface ScopeInput {
  /** The scope, as applications send it. */
  scope: string;
  /** What a user allows, in a few words: 1 to 100 characters. */
  title: string;
  /** More about it, below the title: 1 to 300 characters; null for nothing. Default: null. */
  description?: string | null | undefined;
  /** Title and description in other languages, by language tag (BCP 47). Default: {}. */
  texts?:
    | Record<
        string,
        {
          /** What a user allows, in a few words: 1 to 100 characters. */
          title: string;
          /** More about it, below the title: 1 to 300 characters; null for nothing. */
          description?: string | null | undefined;
        }
      >
    | undefined;
  /**
   * Whether it lets an application act for the user, or costs something. The consent page points it
   * out. Default: false.
   */
  sensitive?: boolean | undefined;
}

/** The input of `scopes.delete`. */
export interface ScopeNameInput {
  /** The scope, as applications send it. */
  scope: string;
}

/** The input of `applications.secrets.revoke`. */
export interface SecretIdInput {
  /** The id of the application. */
  application_id: string;
  /** The id of the secret, as its application lists it; not the secret itself. */
  secret_id: string;
}

/** The input of `applications.secrets.create`. */
export interface SecretInput {
  /** The id of the application. */
  application_id: string;
  /** When the secret stops working, which must lie in the future; null for never. Default: null. */
  expires_at?: string | null | undefined;
}

/** The input of `summary.get`. */
export interface SummaryInput {
  /** How many hours to go back from now. Default: 24. */
  hours?: number | undefined;
}

/** Operations on the applications. */
export interface ApplicationsOperations {
  /**
   * Create an application. Creates an application and its first secret, which is shown only once. A
   * public application gets no secret.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a new application with its first secret, which is shown only once
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.create({ name: 'Acme' });
   * ```
   */
  create(input: ApplicationInput, options?: CallOptions): Promise<WithResponse<NewApplication>>;

  /**
   * List the applications. Newest first.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, newest first; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.applications.list()) console.log(entry);
   * ```
   */
  list(input?: ApplicationListInput, options?: CallOptions): ListPromise<List<Application>>;

  /**
   * Get an application. The application with the records of its secrets, without the secrets
   * themselves.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a third-party application
   * @throws an `InvalidRequestError` with `application_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.get({ application_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  get(input: ApplicationIdInput, options?: CallOptions): Promise<WithResponse<Application>>;

  /**
   * Update an application. Changes the members that are sent; the others stay. Whether it is public
   * is fixed at its creation.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a third-party application
   * @throws an `InvalidRequestError` with `application_not_found` or `application_documented`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.update({ application_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  update(input: ApplicationUpdateInput, options?: CallOptions): Promise<WithResponse<Application>>;

  /**
   * Disable an application. From the next request on, its secrets and grants are refused with
   * `application_disabled`, until it is enabled. Its open links and the codes that were not
   * converted end for good. Idempotent.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a third-party application
   * @throws an `InvalidRequestError` with `application_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.disable({ application_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  disable(input: ApplicationIdInput, options?: CallOptions): Promise<WithResponse<Application>>;

  /**
   * Enable an application. Its secrets and grants work again, except those that were removed,
   * expired or revoked. Links and codes from before stay ended. Idempotent.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a third-party application
   * @throws an `InvalidRequestError` with `application_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.enable({ application_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  enable(input: ApplicationIdInput, options?: CallOptions): Promise<WithResponse<Application>>;

  /**
   * Delete a disabled application. Deletes an application for good and returns it as it was. From
   * the response on, none of its secrets, codes and grants works. If there are so many that the
   * response would take more than 5 seconds, its `state` is `deleting`, and the rest is written
   * down in the background.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a deleted application, as it was
   * @throws an `InvalidRequestError` with `application_not_found` or `application_enabled`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.delete({ application_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  delete(
    input: ApplicationIdInput,
    options?: CallOptions,
  ): Promise<WithResponse<DeletedApplication>>;

  /** Operations on the secrets of applications. */
  readonly secrets: ApplicationsSecretsOperations;
}

/** Operations on the secrets of applications. */
export interface ApplicationsSecretsOperations {
  /**
   * Add a secret to an application. Adds a secret, which is shown only once. An application can
   * have up to 5 live secrets, so that a secret can be replaced without downtime.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a new secret of an application, which is shown only once
   * @throws an `InvalidRequestError` with `application_not_found`, `application_documented`,
   * `application_public`, or `secret_limit_reached`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.secrets.create({ application_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  create(input: SecretInput, options?: CallOptions): Promise<WithResponse<NewApplicationSecret>>;

  /**
   * Remove a secret of an application. The secret stops working from the next request on.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a third-party application
   * @throws an `InvalidRequestError` with `application_not_found` or `secret_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.applications.secrets.revoke({
   *   application_id: '0193aa00-0000-7000-8000-000000000001',
   *   secret_id: '0193aa00-0000-7000-8000-000000000001',
   * });
   * ```
   */
  revoke(input: SecretIdInput, options?: CallOptions): Promise<WithResponse<Application>>;
}

/** Operations on the accounts. */
export interface AccountsOperations {
  /**
   * Put an account. Creates an account or replaces it completely. Omitted members get their
   * defaults.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an account, as its operator put it
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.accounts.put({
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   *   username: 'ada',
   * });
   * ```
   */
  put(input: AccountInput, options?: CallOptions): Promise<WithResponse<AccountEntry>>;

  /**
   * Get an account. The account as it is now.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an account, as its operator put it
   * @throws an `InvalidRequestError` with `account_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.accounts.get({ account_id: '0193aa00-0000-7000-8000-000000000001'
   * });
   * ```
   */
  get(input: AccountIdInput, options?: CallOptions): Promise<WithResponse<AccountEntry>>;

  /**
   * List the accounts. Newest first. With username or external_id, only the accounts with exactly
   * this one.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, newest first; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.accounts.list()) console.log(entry);
   * ```
   */
  list(input?: AccountListInput, options?: CallOptions): ListPromise<List<AccountEntry>>;

  /**
   * Erase an account. Revokes the grants of the account, cancels its codes, and removes its
   * personal data, also from the copies in its grants: username and display_name become "erased",
   * twitter null, and the external id is gone. From the response on, nothing of the account works,
   * and no reader gets its data. What takes more than 5 seconds is done in the background: then
   * `state` is `erasing`. A repeated call says how far it is. Idempotent, also for an unknown
   * account.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an erased account
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.accounts.erase({ account_id: '0193aa00-0000-7000-8000-000000000001'
   * });
   * ```
   */
  erase(input: AccountIdInput, options?: CallOptions): Promise<WithResponse<AccountErasure>>;

  /**
   * Export an account. Everything that is stored about the account, complete and on one page: the
   * account, its grants and codes, what happened to them, and what was refused about them. Without
   * credentials and hashes.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns everything that is stored about an account. It has no credential and no hash
   * @throws an `InvalidRequestError` with `account_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.accounts.export({ account_id: '0193aa00-0000-7000-8000-000000000001'
   * });
   * ```
   */
  export(input: AccountIdInput, options?: CallOptions): Promise<WithResponse<AccountExport>>;
}

/** Operations on the codes. */
export interface CodesOperations {
  /**
   * Issue a code. Issues a code that the application can convert within 300 seconds. The code
   * stores a copy of the current account.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a new code, which is shown only once
   * @throws an `InvalidRequestError` with `target_unknown`, `application_not_found`, or
   * `account_not_found`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.codes.issue({
   *   application_id: '0193aa00-0000-7000-8000-000000000001',
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   *   scope: 'profile.read',
   * });
   * ```
   */
  issue(input: CodeIssueInput, options?: CallOptions): Promise<WithResponse<IssuedCode>>;

  /**
   * Cancel a code. Cancels a code that was not converted. The code is unknown from then on.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a code that was cancelled before it was converted
   * @throws a `GrantNotFoundError` with `grant_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.codes.cancel({ grant_id: '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  cancel(input: GrantIdInput, options?: CallOptions): Promise<WithResponse<CancelledCode>>;
}

/** Operations on the scopes. */
export interface ScopesOperations {
  /**
   * Describe a scope. Describes a scope for the consent page, or replaces its description
   * completely. Applications can ask only for described scopes.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a scope and its description. Applications can ask only for described scopes
   * @throws an `InvalidRequestError` with `scope_limit_reached`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.scopes.put({
   *   scope: 'profile.read',
   *   title: 'Read your profile',
   * });
   * ```
   */
  put(input: ScopeInput, options?: CallOptions): Promise<WithResponse<Scope>>;

  /**
   * List the scopes. All of them, by name.
   *
   * @param input - nothing: it takes none
   * @param options - options of this call
   * @returns all scopes, by name; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.scopes.list()) console.log(entry);
   * ```
   */
  list(input?: Record<string, never>, options?: CallOptions): ListPromise<CompleteList<Scope>>;

  /**
   * Delete the description of a scope. From then on, no application can ask for the scope. Grants
   * that have it stay active. Returns the deleted description.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a scope and its description. Applications can ask only for described scopes
   * @throws an `InvalidRequestError` with `scope_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.scopes.delete({ scope: 'profile.read' });
   * ```
   */
  delete(input: ScopeNameInput, options?: CallOptions): Promise<WithResponse<Scope>>;
}

/** Operations on the resources. */
export interface ResourcesOperations {
  /**
   * Create a resource. Registers a server that grants can be for. Its address is stored without a
   * default port and a slash at the end, scheme and host in lower case, and never changes.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a server that grants can be for
   * @throws an `InvalidRequestError` with `resource_exists` or `resource_limit_reached`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.resources.create({
   *   resource: 'https://mcp.example/mcp',
   *   name: 'Notes',
   * });
   * ```
   */
  create(input: ResourceInput, options?: CallOptions): Promise<WithResponse<Resource>>;

  /**
   * List the resources. All of them, by address.
   *
   * @param input - nothing: it takes none
   * @param options - options of this call
   * @returns all resources, by their address; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.resources.list()) console.log(entry);
   * ```
   */
  list(input?: Record<string, never>, options?: CallOptions): ListPromise<CompleteList<Resource>>;

  /**
   * Update a resource. Changes the members that are sent; the others stay. If a scope is taken
   * away, the link requests for the resource that are not decided end for good.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a server that grants can be for
   * @throws an `InvalidRequestError` with `resource_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.resources.update({ resource_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  update(input: ResourceUpdateInput, options?: CallOptions): Promise<WithResponse<Resource>>;

  /**
   * Delete a resource. From then on, nobody can ask for the resource, and the link requests for it
   * that are not decided end for good. Codes and grants stay. Returns the resource as it was.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a server that grants can be for
   * @throws an `InvalidRequestError` with `resource_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.resources.delete({ resource_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  delete(input: ResourceIdInput, options?: CallOptions): Promise<WithResponse<Resource>>;
}

/** Operations on the documents. */
export interface DocumentsOperations {
  /**
   * Pin a client document. From then on, the document at this address is the one that is sent here:
   * nothing is fetched, and the address is taken as one that you vouch for. A pinned document is
   * replaced. Link requests that are not decided go on with what they have.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns what an application says of itself
   * @throws an `InvalidRequestError` with `document_limit_reached`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.documents.pin({
   *   document_uri: 'https://app.example/oauth-client.json',
   *   document: { client_id: 'https://app.example/oauth-client.json', client_name: 'Acme',
   * redirect_uris: ['https://app.example/callback'] },
   * });
   * ```
   */
  pin(input: DocumentPinInput, options?: CallOptions): Promise<WithResponse<ClientDocument>>;

  /**
   * Unpin a client document. The next link of the application fetches its document again. Returns
   * the document as it was.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns what an application says of itself
   * @throws an `InvalidRequestError` with `document_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.documents.unpin({ document_uri:
   * 'https://app.example/oauth-client.json' });
   * ```
   */
  unpin(input: DocumentUriInput, options?: CallOptions): Promise<WithResponse<ClientDocument>>;

  /**
   * List the client documents. Those that are pinned, and those that are kept while their server
   * fails, by address.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, by document_uri; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.documents.list()) console.log(entry);
   * ```
   */
  list(input?: DocumentListInput, options?: CallOptions): ListPromise<List<ClientDocument>>;
}

/** Operations on the connections. */
export interface ConnectionsOperations {
  /**
   * List the connected applications of an account. The applications with active grants of the
   * account, by name in code points, then by id. Empty if there is no such account.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, by the name of the application; with `for await`, every entry of
   * every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.connections.list({ account_id:
   * '0193aa00-0000-7000-8000-000000000001' })) console.log(entry);
   * ```
   */
  list(input: ConnectionListInput, options?: CallOptions): ListPromise<List<Connection>>;

  /**
   * Disconnect an application from an account. Revokes every active grant of the account with this
   * application, cancels every code that was not converted, and returns what was written down. From
   * the response on, none of them works. What takes more than 5 seconds is written down in the
   * background: then `state` is `revoking`. Idempotent.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns what a disconnect has ended
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.connections.revoke({
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   *   application_id: '0193aa00-0000-7000-8000-000000000001',
   * });
   * ```
   */
  revoke(input: ConnectionInput, options?: CallOptions): Promise<WithResponse<RevokedGrantList>>;
}

/** Operations on the pages. */
export interface PagesOperations {
  /**
   * Create a page for an account. Creates an address that opens in one browser, within 300 seconds:
   * the page where a user sees and ends the connected applications. Send the browser of this user
   * there.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page for one account
   * @throws an `InvalidRequestError` with `account_not_found`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { url } = await admin.pages.create({
   *   page: 'connections',
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   * });
   * ```
   */
  create(input: PageCreateInput, options?: CallOptions): Promise<WithResponse<Page>>;

  /**
   * End the pages of an account. For a host whose user has signed out. Every page of the account
   * stops working, consent pages and lists of connected applications. Links are not affected. Pages
   * that are made afterwards work. Idempotent, also for an unknown account.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns the pages of an account have ended
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.pages.end({ account_id: '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  end(input: AccountIdInput, options?: CallOptions): Promise<WithResponse<PagesEnded>>;
}

/** Operations on the links. */
export interface LinksOperations {
  /**
   * Read a link request. Returns what the application asks for, and the state of the request.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a request of an application to link an account
   * @throws an `InvalidRequestError` with `link_not_found` or `link_expired`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.links.read({ link: 'lk_link_…' });
   * ```
   */
  read(input: LinkInput, options?: CallOptions): Promise<WithResponse<LinkRequest>>;

  /**
   * Name the account of a link request. Tells which account has signed in, and returns the address
   * of the consent page for it. It can be repeated: the last call counts, and earlier pages stop
   * working. With own_page, there is no page: the host asks the user itself, and approves for this
   * account.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a link request whose account is identified, and where the host sends the browser
   * @throws an `InvalidRequestError` with `link_not_found`, `link_expired`, `link_decided`, or
   * `account_not_found`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { redirect_to } = await admin.links.identify({
   *   link: 'lk_link_…',
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   * });
   * ```
   */
  identify(
    input: LinkIdentifyInput & { own_page?: false | undefined },
    options?: CallOptions,
  ): Promise<WithResponse<LinkRedirect>>;

  /**
   * Name the account of a link request. Tells which account has signed in, and returns the address
   * of the consent page for it. It can be repeated: the last call counts, and earlier pages stop
   * working. With own_page, there is no page: the host asks the user itself, and approves for this
   * account.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a link request whose account is identified, and where the host sends the browser
   * @throws an `InvalidRequestError` with `link_not_found`, `link_expired`, `link_decided`, or
   * `account_not_found`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { redirect_to } = await admin.links.identify({
   *   link: 'lk_link_…',
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   * });
   * ```
   */
  identify(
    input: LinkIdentifyInput,
    options?: CallOptions,
  ): Promise<WithResponse<LinkIdentification>>;

  /**
   * Approve a link request. For a host that has asked its user itself. Issues a code, and returns
   * the address that carries it to the application. Repeating it with the same input has the same
   * response while the code is valid.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a link request, and where the host sends the browser next
   * @throws an `InvalidRequestError` with `link_not_found`, `link_expired`, `link_decided`,
   * `account_not_found`, `scope_unknown`, or `account_changed`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { redirect_to } = await admin.links.approve({
   *   link: 'lk_link_…',
   *   account_id: '0193aa00-0000-7000-8000-000000000001',
   * });
   * ```
   */
  approve(input: LinkApproveInput, options?: CallOptions): Promise<WithResponse<LinkRedirect>>;

  /**
   * Deny a link request. The user does not want to link, or gave up signing in. Returns the address
   * that tells the application, or that of a page with a link there if nobody vouches for the
   * redirect URI. Idempotent.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a link request, and where the host sends the browser next
   * @throws an `InvalidRequestError` with `link_not_found`, `link_expired`, or `link_decided`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { redirect_to } = await admin.links.deny({ link: 'lk_link_…' });
   * ```
   */
  deny(input: LinkInput, options?: CallOptions): Promise<WithResponse<LinkRedirect>>;
}

/** Operations on the grants. */
export interface GrantsOperations {
  /**
   * List the grants of an account or of an application. Newest first, including revoked grants.
   * Takes exactly one of account_id and application_id. Codes that were not converted are not
   * listed.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, newest first; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.grants.list({ account_id:
   * '0193aa00-0000-7000-8000-000000000001' })) console.log(entry);
   * ```
   */
  list(input: GrantListInput, options?: CallOptions): ListPromise<List<GrantEntry>>;

  /**
   * Revoke any grant. Ends a grant of any application. Idempotent: a repeated call returns the same
   * body.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a revoked grant
   * @throws a `GrantNotFoundError` with `grant_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.grants.revoke({ grant_id: '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  revoke(input: GrantIdInput, options?: CallOptions): Promise<WithResponse<RevokedGrant>>;

  /**
   * Revoke every grant of an account or of an application. Ends every active grant, and cancels
   * every code that was not converted. From the response on, none of them works. Takes exactly one
   * of account_id and application_id. What takes more than 5 seconds is written down in the
   * background: then `state` is `revoking`. Idempotent, also for an unknown id; a repeated call
   * ends what is active now as well.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns what a call has ended
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.grants.revokeAll({ account_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  revokeAll(
    input: GrantFilterInput,
    options?: CallOptions,
  ): Promise<WithResponse<GrantRevocations>>;

  /**
   * Get the history of a grant. What happened to a grant since its code was issued, and the newest
   * 200 calls about it that were refused, oldest first.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns what happened to a grant since its code was issued
   * @throws a `GrantNotFoundError` with `grant_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.grants.history({ grant_id: '0193aa00-0000-7000-8000-000000000001'
   * });
   * ```
   */
  history(input: GrantIdInput, options?: CallOptions): Promise<WithResponse<GrantHistory>>;
}

/** Operations on the refusals. */
export interface RefusalsOperations {
  /**
   * List what was refused, and why. Newest first. Refusals are kept for AUDIT_DAYS. Takes at most
   * one of request_id, application_id, account_id and grant_id. With request_id, the first page
   * ends with the first refusal, even if newer ones would fill it, and later pages leave it out.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, newest first; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.refusals.list()) console.log(entry);
   * ```
   */
  list(input?: RefusalListInput, options?: CallOptions): ListPromise<List<Refusal>>;
}

/** Operations on the summary. */
export interface SummaryOperations {
  /**
   * Get what happened in the last hours. Link requests, grants and refused calls, with a series for
   * a chart. The numbers are approximate. It costs the same however large the database is.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns what happened in the last hours. Each process adds what it counted once a minute, so a
   * killed one loses its last minute
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.summary.get();
   * ```
   */
  get(input?: SummaryInput, options?: CallOptions): Promise<WithResponse<Summary>>;
}

/** Operations on the endpoints. */
export interface EndpointsOperations {
  /**
   * Create an endpoint. Creates an endpoint of an application or of the host, with a secret that is
   * shown only once. It is told of what happens from then on. An application can have 3 endpoints,
   * the host 5.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an endpoint with a new secret, which is shown only once
   * @throws an `InvalidRequestError` with `application_not_found` or `endpoint_limit_reached`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { url } = await admin.endpoints.create({ url: 'https://app.example/latchkey-events' });
   * ```
   */
  create(input: EndpointInput, options?: CallOptions): Promise<WithResponse<NewEndpoint>>;

  /**
   * List the endpoints. Newest first. With application_id, only those of this application.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, newest first; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.endpoints.list()) console.log(entry);
   * ```
   */
  list(input?: EndpointListInput, options?: CallOptions): ListPromise<List<Endpoint>>;

  /**
   * Get an endpoint. The endpoint as it is now, without its secret.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an address that is told of events
   * @throws an `InvalidRequestError` with `endpoint_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { url } = await admin.endpoints.get({ endpoint_id: '0193aa00-0000-7000-8000-000000000001'
   * });
   * ```
   */
  get(input: EndpointIdInput, options?: CallOptions): Promise<WithResponse<Endpoint>>;

  /**
   * Update an endpoint. Changes the members that are sent; the others stay. Disabling drops what is
   * pending. From the response on, no try begins with what was before.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an address that is told of events
   * @throws an `InvalidRequestError` with `endpoint_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { url } = await admin.endpoints.update({ endpoint_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  update(input: EndpointUpdateInput, options?: CallOptions): Promise<WithResponse<Endpoint>>;

  /**
   * Delete an endpoint. From the response on, nothing is sent to it. What is pending is dropped,
   * and its deliveries stay listed for 30 days. Returns the endpoint as it was.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an address that is told of events
   * @throws an `InvalidRequestError` with `endpoint_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { url } = await admin.endpoints.delete({ endpoint_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  delete(input: EndpointIdInput, options?: CallOptions): Promise<WithResponse<Endpoint>>;

  /**
   * Replace the secret of an endpoint. Makes a new secret, which is shown only once. For
   * overlap_seconds, messages are signed with the old one too. A second rotation ends the overlap
   * of the first.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns an endpoint with a new secret, which is shown only once
   * @throws an `InvalidRequestError` with `endpoint_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const { url } = await admin.endpoints.rotate({ endpoint_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  rotate(input: EndpointRotationInput, options?: CallOptions): Promise<WithResponse<NewEndpoint>>;

  /**
   * Send a ping to an endpoint. Sends one message of the type ping, once, and returns its delivery
   * when the try has ended. After 18 seconds it returns the delivery as it is then.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns one event for one endpoint
   * @throws an `InvalidRequestError` with `endpoint_not_found` or `endpoint_disabled`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.endpoints.ping({ endpoint_id: '0193aa00-0000-7000-8000-000000000001'
   * });
   * ```
   */
  ping(input: EndpointIdInput, options?: CallOptions): Promise<WithResponse<Delivery>>;

  /**
   * Replay what was not delivered to an endpoint. Every delivery that was given up or dropped since
   * then, and every one that waits for a later try, is due now, and its tries begin anew; no pings.
   * One call replays at most 10,000, newest first: repeat it until the count is 0.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns deliveries that are tried again
   * @throws an `InvalidRequestError` with `endpoint_not_found` or `endpoint_disabled`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.endpoints.replay({
   *   endpoint_id: '0193aa00-0000-7000-8000-000000000001',
   *   since: '2026-11-21T00:00:00Z',
   * });
   * ```
   */
  replay(input: ReplayInput, options?: CallOptions): Promise<WithResponse<Replay>>;
}

/** Operations on the deliveries. */
export interface DeliveriesOperations {
  /**
   * List the deliveries to an endpoint or about a grant. Newest first. Takes exactly one of
   * endpoint_id and grant_id. A delivery is kept for 30 days after its end.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a page of a list, newest first; with `for await`, every entry of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.deliveries.list({ endpoint_id:
   * '0193aa00-0000-7000-8000-000000000001' })) console.log(entry);
   * ```
   */
  list(input: DeliveryListInput, options?: CallOptions): ListPromise<List<Delivery>>;

  /**
   * Retry a delivery. A delivery that has ended, or waits for a later try, is due now, and its
   * tries begin anew. A ping is tried once more.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns one event for one endpoint
   * @throws an `InvalidRequestError` with `delivery_not_found`, `endpoint_not_found`,
   * `endpoint_disabled`, or `delivery_pending`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.deliveries.retry({ delivery_id:
   * '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  retry(input: DeliveryIdInput, options?: CallOptions): Promise<WithResponse<Delivery>>;
}

/** Operations on the keys. */
export interface KeysOperations {
  /**
   * Create a key. Creates a key with a role, whose secret is shown only once. A key never changes:
   * make a new one, and delete the old one. There can be 50 live keys.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a new key, which is shown only once
   * @throws an `InvalidRequestError` with `key_limit_reached`
   * @throws an `UnavailableError` with `store_full`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.keys.create({
   *   name: 'Sign-in page',
   *   role: 'host',
   * });
   * ```
   */
  create(input: KeyInput, options?: CallOptions): Promise<WithResponse<NewKey>>;

  /**
   * List the keys. Newest first. Of the expired ones, the 20 that were created last.
   *
   * @param input - nothing: it takes none
   * @param options - options of this call
   * @returns all keys, newest first; of the expired ones the last 20; with `for await`, every entry
   * of every page
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * for await (const entry of admin.keys.list()) console.log(entry);
   * ```
   */
  list(input?: Record<string, never>, options?: CallOptions): ListPromise<CompleteList<Key>>;

  /**
   * Delete a key. The key stops working from the next request on. Returns the key as it was.
   *
   * @param input - what to send
   * @param options - options of this call
   * @returns a credential of the operator, with a role
   * @throws an `InvalidRequestError` with `key_not_found`
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.keys.delete({ key_id: '0193aa00-0000-7000-8000-000000000001' });
   * ```
   */
  delete(input: KeyIdInput, options?: CallOptions): Promise<WithResponse<Key>>;
}

/** Operations on the self. */
export interface SelfOperations {
  /**
   * Get what the caller may do. The key of the request, its role, and the operations that it may
   * call.
   *
   * @param input - nothing: it takes none
   * @param options - options of this call
   * @returns what the caller is and may do
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.self.get();
   * ```
   */
  get(input?: Record<string, never>, options?: CallOptions): Promise<WithResponse<Self>>;
}

/** Operations on the settings. */
export interface SettingsOperations {
  /**
   * Get the settings in force. Every setting of the process that responds, with its value and where
   * it comes from. The value of a secret is null, also if it is set.
   *
   * @param input - nothing: it takes none
   * @param options - options of this call
   * @returns the settings in force, without secrets
   * @throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}
   *
   * @example
   * ```ts
   * const result = await admin.settings.get();
   * ```
   */
  get(input?: Record<string, never>, options?: CallOptions): Promise<WithResponse<Settings>>;
}

/** Every operation of the operator, as a method. {@link LatchkeyAdmin} has them. */
export abstract class OperatorOperations {
  /** Operations on the applications. */
  declare readonly applications: ApplicationsOperations;

  /** Operations on the accounts. */
  declare readonly accounts: AccountsOperations;

  /** Operations on the codes. */
  declare readonly codes: CodesOperations;

  /** Operations on the scopes. */
  declare readonly scopes: ScopesOperations;

  /** Operations on the resources. */
  declare readonly resources: ResourcesOperations;

  /** Operations on the documents. */
  declare readonly documents: DocumentsOperations;

  /** Operations on the connections. */
  declare readonly connections: ConnectionsOperations;

  /** Operations on the pages. */
  declare readonly pages: PagesOperations;

  /** Operations on the links. */
  declare readonly links: LinksOperations;

  /** Operations on the grants. */
  declare readonly grants: GrantsOperations;

  /** Operations on the refusals. */
  declare readonly refusals: RefusalsOperations;

  /** Operations on the summary. */
  declare readonly summary: SummaryOperations;

  /** Operations on the endpoints. */
  declare readonly endpoints: EndpointsOperations;

  /** Operations on the deliveries. */
  declare readonly deliveries: DeliveriesOperations;

  /** Operations on the keys. */
  declare readonly keys: KeysOperations;

  /** Operations on the self. */
  declare readonly self: SelfOperations;

  /** Operations on the settings. */
  declare readonly settings: SettingsOperations;

  protected constructor() {}
}
