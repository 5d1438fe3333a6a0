import type { OperationInput } from '@latchkey/schema';
import type { Command } from 'commander';

export interface AppOptions {
  redirectUri?: string[];
  scope?: string[];
  /** False for `--no-logo`, and likewise for the others. */
  logo?: string | false;
  homepage?: string | false;
  policy?: string | false;
  tos?: string | false;
  resourceServer?: boolean;
  challengeOptional?: true;
  challengeRequired?: true;
  allScopes?: boolean;
  /** False for `--no-default-scopes`. */
  defaultScopes?: boolean;
  defaultScope?: string[];
  idleDays?: number | false;
  grantsPerAccount?: number;
  allGrants?: boolean;
}

export const collect = (value: string, earlier: string[] = []) => [...earlier, value];

export function addAppOptions(command: Command): Command {
  return command
    .option('--redirect-uri <uri>', 'an address that gets the codes; may be repeated', collect)
    .option('--scope <scope>', 'a scope that it may ask for; may be repeated', collect)
    .option(
      '--default-scope <scope>',
      'a scope of a request that names none; may be repeated',
      collect,
    )
    .option('--no-default-scopes', 'a request has to name its scopes')
    .option('--logo <uri>', 'the logo on the consent page, https: or data:')
    .option('--homepage <uri>', 'its page for users')
    .option('--policy <uri>', 'its privacy policy')
    .option('--tos <uri>', 'its terms of service')
    .option('--resource-server', 'it may introspect the grants of every application')
    .option('--challenge-optional', 'it may link without PKCE, if it sends a state')
    .option('--idle-days <days>', 'end grants that are not used for this many days', Number)
    .option('--no-idle-days', 'end no grant because it is not used')
    .option('--grants-per-account <number>', 'keep this many grants of an account', Number)
    .option('--all-grants', 'keep every grant of an account');
}

export function addRemovingOptions(command: Command): Command {
  return command
    .option('--all-scopes', 'it may ask for every described scope')
    .option('--no-logo', 'remove the logo')
    .option('--no-homepage', 'remove the homepage')
    .option('--no-policy', 'remove the privacy policy')
    .option('--no-tos', 'remove the terms of service')
    .option('--challenge-required', 'it has to use PKCE')
    .option('--no-resource-server', 'it may introspect its own grants only');
}

type AppMembers = Omit<OperationInput<'admin.applications.update'>, 'application_id' | 'name'>;

export function membersFrom(options: AppOptions): AppMembers {
  const { redirectUri, scope, logo, homepage, policy, tos, allScopes } = options;
  const { resourceServer, challengeOptional, challengeRequired } = options;
  const { defaultScope, defaultScopes, idleDays, grantsPerAccount, allGrants } = options;
  const orNull = <Value>(value: Value | false) => (value === false ? null : value);
  return {
    ...(redirectUri !== undefined && { redirect_uris: redirectUri }),
    ...(scope !== undefined && { scopes: scope }),
    ...(allScopes && { scopes: null }),
    ...(defaultScopes === false && { default_scopes: null }),
    ...(defaultScope !== undefined && { default_scopes: defaultScope }),
    ...(logo !== undefined && { logo_uri: orNull(logo) }),
    ...(homepage !== undefined && { homepage_uri: orNull(homepage) }),
    ...(policy !== undefined && { policy_uri: orNull(policy) }),
    ...(tos !== undefined && { tos_uri: orNull(tos) }),
    ...(resourceServer !== undefined && { resource_server: resourceServer }),
    ...(challengeOptional && { challenge_required: false }),
    ...(challengeRequired && { challenge_required: true }),
    ...(idleDays !== undefined && { idle_days: orNull(idleDays) }),
    ...(grantsPerAccount !== undefined && { grants_per_account: grantsPerAccount }),
    ...(allGrants && { grants_per_account: null }),
  };
}
