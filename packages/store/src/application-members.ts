import type { Claimed } from '@latchkey/domain/claimed';

/** What an operator says of an application, and may change. */
export interface ApplicationMembers {
  name: Claimed<string>;
  /**
   * As they were written, since they are compared exactly. Of an application with a document, those of
   * its approvals: nothing is compared with them.
   */
  redirect_uris: string[];
  /** The scopes that it may ask for; null for every described one. */
  scopes: string[] | null;
  /** The scopes of a request that names none; null for none. */
  default_scopes: string[] | null;
  logo_uri: string | null;
  homepage_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  /** Whether it may introspect the grants of every application. */
  resource_server: boolean;
  /** Whether each authorization request needs a challenge. */
  challenge_required: boolean;
  /** Days after which an unused grant ends; null for never. */
  idle_days: number | null;
  /** How many grants of one account stay after a conversion; null for all. */
  grants_per_account: number | null;
}

/** What holds until something is said. */
export const unsaidMembers = {
  redirect_uris: [],
  scopes: null,
  default_scopes: null,
  logo_uri: null,
  homepage_uri: null,
  policy_uri: null,
  tos_uri: null,
  resource_server: false,
  challenge_required: false,
  idle_days: null,
  grants_per_account: null,
} satisfies Omit<ApplicationMembers, 'name'>;
