import { ageOf } from './age.ts';
import type { ItemOf, ListOperation } from './list.ts';
import { yesOrNo } from './member.ts';
import type { Column } from './table.ts';

/** A terminal that is too narrow gets none of these. */
const optional = <Item>(title: string, text: (item: Item) => string | null): Column<Item> => ({
  title,
  text: (item) => text(item) ?? '',
  optional: true,
});

/** A terminal that is too narrow gets a part of it. */
const flexible = <Item>(title: string, text: (item: Item) => string | null): Column<Item> => ({
  title,
  text: (item) => text(item) ?? '',
  flexible: true,
});

/** A pipe gets the time, a terminal how long ago that is. */
const ago = <Item>(
  title: string,
  time: (item: Item) => string | null,
  never: string,
): Column<Item> => ({
  ...optional(title, time),
  short(item) {
    const at = time(item);
    return at === null ? never : `${ageOf(at)} ago`;
  },
});

const age = <Item>(time: (item: Item) => string): Column<Item> => ({
  ...optional('AGE', time),
  short: (item) => ageOf(time(item)),
});

const lastUse = ({ secrets }: ItemOf<'admin.applications.list'>): string | null =>
  secrets
    .flatMap(({ last_used_at }) => last_used_at ?? [])
    .toSorted()
    .at(-1) ?? null;

const stateOf = (endpoint: ItemOf<'admin.endpoints.list'>): string => {
  const { disabled_reason, failing_since } = endpoint;
  if (disabled_reason !== null) return `disabled (${disabled_reason})`;
  return failing_since === null ? 'enabled' : `failing since ${failing_since}`;
};

function lastTry({ attempts }: ItemOf<'admin.deliveries.list'>): string {
  const { result, status_code } = attempts.at(-1) ?? { result: '', status_code: null };
  return status_code === null ? result : `${result} (${status_code})`;
}

/** The others have commands of their own. */
type ListColumns = {
  readonly [Name in Exclude<
    ListOperation,
    'admin.refusals.list' | 'admin.connections.revoke'
  >]: readonly Column<ItemOf<Name>>[];
};

export const listColumns: ListColumns = {
  'admin.applications.list': [
    { title: 'ID', text: ({ id }) => id },
    flexible('NAME', ({ name }) => name),
    { title: 'STATE', text: ({ disabled }) => (disabled ? 'disabled' : 'active') },
    ago('LAST USED', lastUse, 'never'),
    age(({ created_at }) => created_at),
  ],
  'admin.accounts.list': [
    { title: 'ID', text: ({ id }) => id },
    flexible('USERNAME', ({ username }) => username),
    flexible('DISPLAY NAME', ({ display_name }) => display_name),
    { ...flexible('TWITTER', ({ twitter }) => twitter), optional: true },
    optional('VERIFIED', ({ verified }) => yesOrNo(verified)),
    optional('SUPPORTER', ({ supporter }) => yesOrNo(supporter)),
    { ...flexible('EXTERNAL ID', ({ external_id }) => external_id), optional: true },
  ],
  'admin.scopes.list': [
    { title: 'SCOPE', text: ({ scope }) => scope },
    flexible('TITLE', ({ title }) => title),
    flexible('DESCRIPTION', ({ description }) => description),
    optional('LANGUAGES', ({ texts }) => Object.keys(texts).join(' ')),
  ],
  'admin.resources.list': [
    { title: 'ID', text: ({ id }) => id },
    flexible('RESOURCE', ({ resource }) => resource),
    flexible('NAME', ({ name }) => name),
    optional('SCOPES', ({ scopes }) => scopes?.join(' ') ?? 'all'),
  ],
  'admin.documents.list': [
    flexible('DOCUMENT', ({ document_uri }) => document_uri),
    flexible('NAME', ({ name }) => name),
    { title: 'STATE', text: ({ pinned }) => (pinned ? 'pinned' : 'kept') },
    optional('METHOD', ({ method }) => method),
    optional('APPLICATION', ({ application_id }) => application_id),
    age(({ kept_at }) => kept_at),
    optional('UNTIL', ({ kept_until }) => kept_until),
  ],
  'admin.connections.list': [
    { title: 'APPLICATION', text: ({ application }) => application.id },
    flexible('NAME', ({ application }) => application.name),
    flexible('SCOPES', ({ scopes }) => scopes.map(({ scope }) => scope).join(' ')),
    optional('GRANTS', ({ grants_total }) => String(grants_total)),
    age(({ connected_at }) => connected_at),
    ago('LAST USED', ({ last_used_at }) => last_used_at, 'never'),
  ],
  'admin.grants.list': [
    { title: 'GRANT', text: ({ grant_id }) => grant_id },
    flexible('ACCOUNT', ({ account }) => account.username),
    flexible('SCOPE', ({ scope }) => scope),
    { title: 'STATE', text: ({ revoked }) => (revoked ? 'revoked' : 'active') },
    age(({ created_at }) => created_at),
    ago('LAST USED', ({ last_used_at }) => last_used_at, 'never'),
    ago('REVOKED', ({ revoked_at }) => revoked_at, ''),
    optional('APPLICATION', ({ application_id }) => application_id),
    optional('ACCOUNT ID', ({ account }) => account.id),
  ],
  'admin.endpoints.list': [
    { title: 'ID', text: ({ id }) => id },
    flexible('URL', ({ url }) => url),
    flexible('STATE', stateOf),
    optional('OF', ({ application_id }) => application_id ?? 'the host'),
    optional('TYPES', ({ types }) => types?.join(' ') ?? 'everything'),
    optional('LAST SUCCESS', ({ last_success_at }) => last_success_at),
  ],
  'admin.deliveries.list': [
    { title: 'DELIVERY', text: ({ id }) => id },
    { title: 'TYPE', text: ({ type }) => type },
    { title: 'STATUS', text: ({ status }) => status },
    flexible('LAST TRY', lastTry),
    age(({ created_at }) => created_at),
    optional('NEXT TRY', ({ next_attempt_at }) => next_attempt_at),
    optional('ENDPOINT', ({ endpoint_id }) => endpoint_id),
    optional('GRANT', ({ grant_id }) => grant_id),
    optional('ACCOUNT', ({ account_id }) => account_id),
    optional('EVENT', ({ event_id }) => event_id),
  ],
  'admin.keys.list': [
    { title: 'ID', text: ({ id }) => id },
    flexible('NAME', ({ name }) => name),
    { title: 'ROLE', text: ({ role }) => role },
    optional('KEY', ({ hint }) => hint),
    optional('EXPIRES', ({ expires_at }) => expires_at ?? 'never'),
    optional('LAST USED', ({ last_used_at }) => last_used_at ?? 'never'),
  ],
};
