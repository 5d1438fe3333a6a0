/**
 * The objects on the wire, written out, so that a reader of the `.d.ts` sees names and not
 * inference. `types.test-d.ts` holds each one equal to its zod schema.
 *
 * Every timestamp is ISO 8601 with milliseconds and offset, `2026-11-21T02:15:30.123+00:00`; every
 * id is a UUID in lower case.
 */

import type { ErrorCode } from './errors.ts';

/** The account that a grant is about. */
export interface Account {
  object: 'service_account';
  /** Names the account for good: a UUID in lower case. */
  id: string;
  /** 1 to 200 characters. It may change: know an account by its `id`. */
  username: string;
  /** What to call the account's owner, 1 to 200 characters. */
  display_name: string;
  /** A social handle of the account; null where it has none. */
  twitter: string | null;
  /** Whether the service marks the account as verified. */
  verified: boolean;
  /** Whether the service marks the account as a supporter's. */
  supporter: boolean;
}

/** A grant as the exchange of a code returns it: the one time that its secret is shown. */
export interface FullGrant {
  object: 'oauth_grant';
  /** Names the grant, for example to revoke it: a UUID in lower case. Store it. */
  grant_id: string;
  /** When the code was exchanged: ISO 8601, `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** Authorizes requests about the account. Store it encrypted; it is not shown again. */
  grant_secret: string;
  revoked: false;
  /** The account as it was when the code was issued. */
  account: Account;
}

/** A grant as it describes itself: everything but the secret. */
export interface GrantDescription {
  object: 'oauth_grant';
  /** Names the grant: a UUID in lower case. */
  grant_id: string;
  /** When the code was exchanged: ISO 8601, `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  revoked: false;
  /** The account as it was when the code was issued. */
  account: Account;
}

/** What remains of a grant once it is revoked. */
export interface RevokedGrant {
  object: 'oauth_grant';
  /** Names the grant: a UUID in lower case. */
  grant_id: string;
  /** When the code was exchanged: ISO 8601, `2026-11-21T02:15:30.123+00:00`. */
  created_at: string;
  revoked: true;
}

/** A grant in an operator's list. */
export interface GrantEntry {
  object: 'oauth_grant';
  grant_id: string;
  application_id: string;
  created_at: string;
  scope: string;
  revoked: boolean;
  revoked_at: string | null;
  account: Account;
}

/** A secret of an application, without the secret itself. */
export interface ApplicationSecret {
  object: 'application_secret';
  id: string;
  /** `lk_app_…` and the last four letters, to tell one secret from another. */
  hint: string;
  created_at: string;
  /** When it stops working; null for never. */
  expires_at: string | null;
  /** When it last authenticated a request, to the minute; null for never. */
  last_used_at: string | null;
}

/** A new secret of an application: the one time that it is shown. */
export interface NewApplicationSecret extends ApplicationSecret {
  secret: string;
}

/** A third-party application. */
export interface Application {
  object: 'application';
  id: string;
  name: string;
  /** While true, none of its secrets and none of its grants authenticate. */
  disabled: boolean;
  created_at: string;
  secrets: ApplicationSecret[];
}

/** A new application with its first secret: the one time that it is shown. */
export interface NewApplication extends Application {
  secret: string;
}

/** A code that was issued: the one time that it is shown. */
export interface IssuedCode {
  object: 'grant_code';
  /** Goes to the application with the user's browser: `lk_code_…`, good once. */
  code: string;
  /** The id of the grant that the code becomes. */
  grant_id: string;
  /** The application that may exchange it: a UUID in lower case. */
  application_id: string;
  /** The account that the grant is about: a UUID in lower case. */
  account_id: string;
  /** Space-separated scope tokens (RFC 6749 section 3.3). */
  scope: string;
  /** 300 seconds after the issue: ISO 8601, `2026-11-21T02:15:30.123+00:00`. */
  expires_at: string;
}

/** A code that was cancelled before anyone exchanged it. */
export interface CancelledCode {
  object: 'grant_code';
  grant_id: string;
  application_id: string;
  account_id: string;
  scope: string;
  expires_at: string;
  cancelled: true;
}

/** A page of a list, newest first. */
export interface List<Item> {
  object: 'list';
  data: Item[];
  /** Send it as `cursor` to get the next page; null at the end. */
  next_cursor: string | null;
}

/** One thing that is wrong with an input. */
export interface ParameterIssue {
  /** The way to the member, such as `["code"]`; empty for the input as a whole. */
  path: (string | number)[];
  /** What it should be. Never repeats the value. */
  message: string;
}

/** The body of every error, over REST; over tRPC it is in `error.data`. */
export interface ErrorBody {
  /** The standard OAuth word (RFC 6749 section 5.2). */
  error: string;
  /** What happened and what to do next, for a person. */
  error_description: string;
  /** Stable; the one to branch on. */
  error_code: ErrorCode;
  /** The error's paragraph in the docs. */
  error_uri: string;
  /** Names the request in the log of the service. */
  request_id: string;
  /** With `code_already_used` and `outcome_unknown`. */
  grant_id?: string | undefined;
  /** With `parameter_invalid`. */
  issues?: ParameterIssue[] | undefined;
}
