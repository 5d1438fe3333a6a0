import type { RecordOf } from './kind.ts';
import type { applications } from './kinds.ts';

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
} satisfies Partial<RecordOf<typeof applications>>;

/** What an operator says of an application, and may change. */
export type ApplicationMembers = Pick<
  RecordOf<typeof applications>,
  'name' | keyof typeof unsaidMembers
>;
