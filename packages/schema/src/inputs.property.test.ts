import { longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import * as inputs from './inputs.ts';

// A second implementation of `docs/protocol/operations.md#input`. It uses loops over characters
// and calendars instead of the patterns in the schemas.

/** The parsed value of a member, or that it is refused. */
type Read = { value: unknown } | 'refused';
type Rule = (value: unknown) => Read;

const kept = (value: unknown): Read => ({ value });
const keptIf =
  (holds: (text: string) => boolean): Rule =>
  (value) =>
    typeof value === 'string' && holds(value) ? kept(value) : 'refused';

const id: Rule = (value) => {
  if (typeof value !== 'string') return 'refused';
  const groups = value.split('-');
  const sized = groups.map(({ length }) => length).join() === '8,4,4,4,12';
  const digits = [...groups.join('')].every((c) => '0123456789abcdefABCDEF'.includes(c));
  return sized && digits ? kept(value.toLowerCase()) : 'refused';
};

const isHidden = (character: string) =>
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(character);
const isMark = (character: string) => /\p{M}/u.test(character);
const isJoiner = (character: string) => character === '\u200c' || character === '\u200d';
const isSelector = (character: string) => character === '\ufe0e' || character === '\ufe0f';
const isShown = (character: string) => !isHidden(character) && !/[\p{Z}\p{M}]/u.test(character);

/** How many characters from this one on are tags up to the last one; 0 if they have no end. */
function tagsAt(characters: string[], start: number): number {
  const rest = characters.slice(start);
  const count = rest.findIndex((character) => character < '\u{e0020}' || character > '\u{e007e}');
  return count > 0 && rest[count] === '\u{e007f}' ? count + 1 : 0;
}

function withoutHidden(characters: string[]): string[] {
  const kept: string[] = [];
  let isBehindShown = false;
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] as string;
    const tags = isBehindShown ? tagsAt(characters, index) : 0;
    if (tags > 0) {
      kept.push(...characters.slice(index, index + tags));
      index += tags - 1;
      isBehindShown = false;
      continue;
    }
    const isKept = isJoiner(character) || isSelector(character) || !isHidden(character);
    if (isKept) kept.push(character);
    isBehindShown = isShown(character) || (isBehindShown && isKept && isMark(character));
  }
  return kept;
}

function withoutStrays(characters: string[]): string[] {
  let behind: 'a character' | 'tags' | null = null;
  return characters.filter((character, index) => {
    const next = characters[index + 1] ?? '';
    const isBetween = behind !== null && next !== '' && !isHidden(next) && !/\p{Z}/u.test(next);
    const isKept = isJoiner(character)
      ? isBetween
      : !isSelector(character) || behind === 'a character';
    const isTag = character >= '\u{e0020}' && character <= '\u{e007f}';
    if (isShown(character)) behind = 'a character';
    // What is behind the tags of an emoji belongs to no character.
    else if (isTag) behind &&= 'tags';
    else if (!isMark(character) || behind === 'tags') behind = null;
    return isKept;
  });
}

function withoutPiles(characters: string[]): string[] {
  let marks = 0;
  return characters.filter((character) => {
    marks = /[\p{Mn}\p{Me}]/u.test(character) ? marks + 1 : 0;
    return marks <= 4;
  });
}

/** What a user's text keeps: nothing if no character of it shows. */
function seen(text: string): string {
  const kept = withoutPiles(withoutStrays(withoutHidden([...text.normalize('NFC')])));
  return kept.some(isShown) ? kept.join('').normalize('NFC') : '';
}

/** What an operator types: all of it shows. */
const textUpTo =
  (most: number): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'refused';
    const text = value.normalize('NFC');
    const isNamed = text !== '' && [...text].length <= most;
    return isNamed && seen(text) === text && !text.includes('\u{e007f}') ? kept(text) : 'refused';
  };
const text = textUpTo(200);

/** What comes from a user of the host. Empty if nothing of it shows. */
const hostTextUpTo =
  (most: number): Rule =>
  (value) => {
    if (typeof value !== 'string') return 'refused';
    const text = seen(value);
    return [...text].length <= most ? kept(text) : 'refused';
  };
const hostText = hostTextUpTo(200);
const username: Rule = (value) => {
  const read = hostText(value);
  return read !== 'refused' && read.value === '' ? 'refused' : read;
};

/** RFC 6749, section 3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ). */
const isToken = (token: string) =>
  token !== '' && [...token].every((c) => c >= '!' && c <= '~' && c !== '"' && c !== '\\');
const isDistinct = (list: readonly unknown[]) => new Set(list).size === list.length;
/** 1 to 32 distinct tokens. */
const scope = keptIf((value) => {
  const tokens = value.split(' ');
  return value.length <= 1000 && tokens.length <= 32 && isDistinct(tokens) && tokens.every(isToken);
});
const scopeToken = keptIf((value) => value.length <= 200 && isToken(value));

const any = keptIf(() => true);
const notEmpty = keptIf((value) => value !== '');
const isOneOf = (characters: string) => (text: string) =>
  [...text].every((character) => characters.includes(character));
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const isHex = isOneOf(`${DIGITS}ABCDEFabcdef`);
const requestId = keptIf((value) => /^[!-~]{1,200}$/.test(value));
const externalId = keptIf((value) => /^[!-~]{1,128}$/.test(value));
const challenge = keptIf((value) => value.length === 43 && isOneOf(`${LETTERS}${DIGITS}-_`)(value));
const verifier = keptIf(
  (value) => value.length >= 43 && value.length <= 128 && isOneOf(`${LETTERS}${DIGITS}-._~`)(value),
);
const language = keptIf((value) => {
  const [first = '', ...more] = value.split('-');
  return (
    first.length >= 2 &&
    first.length <= 8 &&
    isOneOf(LETTERS)(first) &&
    more.length <= 8 &&
    more.every((part) => part !== '' && part.length <= 8 && isOneOf(LETTERS + DIGITS)(part))
  );
});

/** The parts of a URI, found from its start; null if it has a character or a user of no URI. */
function partsOf(uri: string) {
  const isCharacter = isOneOf(`${LETTERS}${DIGITS}-._~:/?#[]@!$&'()*+,;=`);
  const [first = '', ...escapes] = uri.split('%');
  if (!isCharacter(first)) return null;
  const areEscapes = escapes.every(
    (text) => text.length >= 2 && isHex(text.slice(0, 2)) && isCharacter(text.slice(2)),
  );
  if (!areEscapes) return null;
  const [beforeFragment = '', ...fragments] = uri.split('#');
  const [beforeQuery = '', ...queries] = beforeFragment.split('?');
  const colon = beforeQuery.indexOf(':');
  const scheme = beforeQuery.slice(0, Math.max(colon, 0)).toLowerCase();
  if (!isOneOf(LETTERS)(scheme.slice(0, 1)) || !isOneOf(`${LETTERS}${DIGITS}+.-`)(scheme)) {
    return null;
  }
  const rest = beforeQuery.slice(colon + 1);
  const authority = rest.startsWith('//') ? rest.slice(2).split('/')[0] : undefined;
  const host = authority === undefined ? null : hostOf(authority);
  if (scheme === '' || host === undefined || (host !== null && !URL.canParse(uri))) return null;
  const query = queries.length === 0 ? '' : queries.join('?');
  return { scheme, host, query, hasFragment: fragments.length > 0 };
}

/** The host of an authority in lower case; undefined if it is no host with a port. */
function hostOf(authority: string): string | undefined {
  const isBracketed = authority.startsWith('[');
  const end = isBracketed ? authority.indexOf(']') + 1 : `${authority}:`.indexOf(':');
  const [host, port] = [authority.slice(0, end), authority.slice(end)];
  const inside = isBracketed ? host.slice(1, -1) : host;
  const isHost = isOneOf(isBracketed ? `${DIGITS}abcdefABCDEF:.` : `${LETTERS}${DIGITS}-._~`)(
    inside,
  );
  const isPort = port === '' || (port.startsWith(':') && isOneOf(DIGITS)(port.slice(1)));
  return inside !== '' && isHost && isPort && port.length <= 6 ? host.toLowerCase() : undefined;
}

const isWeb = ({ scheme, host }: { scheme: string; host: string | null }) =>
  (scheme === 'https' && host !== null) ||
  (scheme === 'http' && ['127.0.0.1', '[::1]', 'localhost'].includes(host ?? ''));
const webUri = keptIf((value) => {
  const parts = partsOf(value);
  return value.length <= 500 && parts !== null && isWeb(parts);
});
const redirectUri = keptIf((value) => {
  const parts = partsOf(value);
  if (value.length > 500 || value.includes('*') || parts === null || parts.hasFragment)
    return false;
  const names = [...new URLSearchParams(parts.query).keys()];
  const isOurs = names.some((name) => ['code', 'state', 'iss', 'error'].includes(name));
  // Of the schemes that `uriTexts` has.
  const isOwn = !['http', 'https', 'javascript', 'moz-extension'].includes(parts.scheme);
  return !isOurs && (isWeb(parts) || parts.scheme.includes('.') || (parts.host !== null && isOwn));
});
const resource: Rule = (value) => {
  if (typeof value !== 'string' || value.length > 500 || /[?#]/.test(value)) return 'refused';
  const parts = partsOf(value);
  if (parts === null || !isWeb(parts)) return 'refused';
  const [, rest = ''] = value.split('://');
  const [authority = '', ...segments] = rest.split('/');
  if (segments.at(-1) === '') segments.pop();
  if (authority.endsWith(':') || segments.some((one) => ['', '.', '..'].includes(one))) {
    return 'refused';
  }
  const origin = new URL(value).port === '' ? `${parts.scheme}://${parts.host}` : null;
  const place = origin ?? `${parts.scheme}://${authority.toLowerCase()}`;
  return kept([place, ...segments].join('/'));
};
const endpointUrl = keptIf((value) => {
  const parts = partsOf(value);
  if (value.length > 500 || parts === null || parts.host === null) return false;
  return ['https', 'http'].includes(parts.scheme) && !value.includes('#');
});
const logoUri = keptIf((value) => {
  if (!value.startsWith('data:')) {
    const parts = partsOf(value);
    return value.length <= 500 && parts?.scheme === 'https' && parts.host !== null;
  }
  const [head, data = '', ...more] = value.split(',');
  const types = ['png', 'webp', 'jpeg', 'gif', 'svg+xml'].map(
    (type) => `data:image/${type};base64`,
  );
  const bare = data.replace(/==?$/, '');
  const isBase64 = bare !== '' && isOneOf(`${LETTERS}${DIGITS}+/`)(bare);
  return value.length <= 8192 && types.includes(head ?? '') && isBase64 && more.length === 0;
});

const listOf =
  (rule: Rule, most: number, least = 0): Rule =>
  (value) =>
    Array.isArray(value) &&
    value.length <= most &&
    value.length >= least &&
    isDistinct(value) &&
    value.every((item) => rule(item) !== 'refused')
      ? kept(value)
      : 'refused';

/** In the order of the contract. */
const eventTypes: Rule = (value) => {
  const all = ['grant.created', 'grant.revoked', 'account.updated'];
  all.push('application.disabled', 'application.enabled');
  const isType = keptIf((type) => all.includes(type));
  if (listOf(isType, all.length, 1)(value) === 'refused') return 'refused';
  return kept(all.filter((type) => (value as string[]).includes(type)));
};

const textOf500 = keptIf((value) => value.length >= 1 && value.length <= 500);
const object: Rule = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'refused';
  // No document has such a member, and no object may get a prototype from outside.
  return kept(Object.fromEntries(Object.entries(value).filter(([name]) => name !== '__proto__')));
};

/** A member of a text in another language. */
const texts: Rule = (value) => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'refused';
  const entries = Object.entries(value);
  const isGood = ([tag, words]: [string, unknown]) => {
    if (language(tag) === 'refused' || typeof words !== 'object' || words === null) return false;
    if (Array.isArray(words)) return false;
    const { title, description, ...unknown } = words as Record<string, unknown>;
    if (Object.keys(unknown).length > 0) return false;
    const isDescribed =
      description === undefined || orNull(textUpTo(300))(description) !== 'refused';
    return textUpTo(100)(title) !== 'refused' && isDescribed;
  };
  if (entries.length > 20 || !entries.every(isGood)) return 'refused';
  const known = entries.map(([tag, { title, description }]) => [
    tag,
    {
      title: title.normalize('NFC'),
      ...(description !== undefined && { description: description?.normalize('NFC') ?? null }),
    },
  ]);
  return kept(Object.fromEntries(known));
};

/** ISO 8601 with seconds and an offset, on a day that exists, before the year 10000. */
const moment = keptIf((value) => {
  const match =
    /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))$/.exec(
      value,
    );
  if (!match) return false;
  const [year, month, day, hour, minute, second] = match
    .slice(1, 7)
    .map((digits) => Number(digits ?? 0)) as [number, number, number, number, number, number];
  const [offsetHour, offsetMinute] = [Number(match[8] ?? 0), Number(match[9] ?? 0)];
  const leap = year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  const exists =
    day >= 1 &&
    day <= days &&
    hour <= 23 &&
    minute <= 59 &&
    second <= 59 &&
    offsetHour <= 23 &&
    offsetMinute <= 59;
  const offset = (match[7] === '-' ? 1 : -1) * (offsetHour * 60 + offsetMinute);
  const lastDay = year === 9999 && month === 12 && day === 31;
  return exists && !(lastDay && hour * 60 + minute + offset >= 24 * 60);
});

const wholeNumberUpTo =
  (most: number, least = 1): Rule =>
  (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      ? kept(value)
      : 'refused';
const limit = wholeNumberUpTo(100);
/** 16 bytes in canonical base64url. */
const cursor = keptIf((value) => {
  const bytes = Buffer.from(value, 'base64url');
  return bytes.length === 16 && bytes.toString('base64url') === value;
});
const boolean: Rule = (value) => (typeof value === 'boolean' ? kept(value) : 'refused');
const defaultScopes: Rule = (value) =>
  Array.isArray(value) && value.join(' ').length <= 1000
    ? listOf(scopeToken, 32, 1)(value)
    : 'refused';

const listUpTo =
  (most: number): Rule =>
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= most &&
    value.every((item) => typeof item === 'string')
      ? kept(value)
      : 'refused';
const listWith =
  (item: string): Rule =>
  (value) =>
    Array.isArray(value) && value.includes(item) ? kept(value) : 'refused';

const orNull =
  (rule: Rule): Rule =>
  (value) =>
    value === null ? kept(null) : rule(value);

/** A rule for a member, and the result if it is missing: refused, absent or a default. */
type Member = [rule: Rule, missing: 'refused' | 'absent' | { value: unknown }];
const needed = (rule: Rule): Member => [rule, 'refused'];
const optional = (rule: Rule): Member => [rule, 'absent'];
const or = (rule: Rule, value: unknown): Member => [rule, { value }];

const membersOf = (value: unknown, ...names: string[]): Record<string, unknown> | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.keys(value).every((name) => names.includes(name)) ? { ...value } : null;
};

const choiceOption: Rule = (value) => {
  const { id, label } = membersOf(value, 'id', 'label') ?? {};
  const shown = label === undefined ? null : hostTextUpTo(100)(label);
  if (externalId(id) === 'refused' || shown === 'refused') return 'refused';
  return kept({ id, ...(shown !== null && { label: shown.value }) });
};
const choiceQuestion: Rule = (value) => {
  const { title, options } = membersOf(value, 'title', 'options') ?? {};
  const asked = hostTextUpTo(100)(title);
  if (asked === 'refused' || asked.value === '' || !Array.isArray(options)) return 'refused';
  const read = options.map(choiceOption);
  const taken = read.flatMap((one) => (one === 'refused' ? [] : [one.value as { id: string }]));
  if (taken.length < read.length || taken.length < 1 || taken.length > 100) return 'refused';
  if (!isDistinct(taken.map(({ id }) => id))) return 'refused';
  const question = { title: asked.value, options: taken };
  return Buffer.byteLength(JSON.stringify(question)) <= 16_384 ? kept(question) : 'refused';
};

const listMembers = { limit: or(limit, 50), cursor: optional(cursor) };

const locale = optional(language);

const contract: Record<keyof typeof inputs, Record<string, Member>> = {
  noInput: {},
  emptyInput: {},
  grantIdInput: { grant_id: needed(id) },
  codeInput: {
    code: needed(notEmpty),
    redirect_uri: optional(any),
    code_verifier: optional(verifier),
    resource: optional(any),
  },
  tokenInput: { token: needed(notEmpty), token_type_hint: optional(any) },
  registrationInput: {
    client_name: optional(kept),
    redirect_uris: needed(listUpTo(20)),
    grant_types: optional(listWith('authorization_code')),
    response_types: optional(listWith('code')),
  },
  ownGrantIdInput: { grant_id: needed(id) },
  applicationIdInput: { application_id: needed(id) },
  accountIdInput: { account_id: needed(id) },
  applicationInput: {
    name: needed(text),
    redirect_uris: or(listOf(redirectUri, 20), []),
    scopes: or(orNull(listOf(scopeToken, 200)), null),
    default_scopes: or(orNull(defaultScopes), null),
    logo_uri: or(orNull(logoUri), null),
    homepage_uri: or(orNull(webUri), null),
    policy_uri: or(orNull(webUri), null),
    tos_uri: or(orNull(webUri), null),
    public: or(boolean, false),
    resource_server: or(boolean, false),
    challenge_required: or(boolean, false),
    idle_days: or(orNull(wholeNumberUpTo(3650)), null),
    grants_per_account: or(orNull(wholeNumberUpTo(100)), null),
  },
  applicationUpdateInput: {
    application_id: needed(id),
    name: optional(text),
    redirect_uris: optional(listOf(redirectUri, 20)),
    scopes: optional(orNull(listOf(scopeToken, 200))),
    default_scopes: optional(orNull(defaultScopes)),
    logo_uri: optional(orNull(logoUri)),
    homepage_uri: optional(orNull(webUri)),
    policy_uri: optional(orNull(webUri)),
    tos_uri: optional(orNull(webUri)),
    resource_server: optional(boolean),
    challenge_required: optional(boolean),
    idle_days: optional(orNull(wholeNumberUpTo(3650))),
    grants_per_account: optional(orNull(wholeNumberUpTo(100))),
  },
  summaryInput: { hours: or(wholeNumberUpTo(720), 24) },
  scopeNameInput: { scope: needed(scopeToken) },
  scopeInput: {
    scope: needed(scopeToken),
    title: needed(textUpTo(100)),
    description: or(orNull(textUpTo(300)), null),
    texts: or(texts, {}),
    sensitive: or(boolean, false),
  },
  resourceInput: {
    resource: needed(resource),
    name: needed(textUpTo(60)),
    scopes: or(orNull(listOf(scopeToken, 32, 1)), null),
    default_scopes: or(orNull(defaultScopes), null),
  },
  resourceUpdateInput: {
    resource_id: needed(id),
    resource: optional(kept),
    name: optional(textUpTo(60)),
    scopes: optional(orNull(listOf(scopeToken, 32, 1))),
    default_scopes: optional(orNull(defaultScopes)),
  },
  resourceIdInput: { resource_id: needed(id) },
  keyInput: {
    name: needed(text),
    role: needed(keptIf((value) => ['read', 'host', 'support', 'operate'].includes(value))),
    expires_at: or(orNull(moment), null),
  },
  keyIdInput: { key_id: needed(id) },
  connectionInput: { account_id: needed(id), application_id: needed(id) },
  pageCreateInput: {
    page: needed(keptIf((value) => value === 'connections')),
    account_id: needed(id),
    return_url: optional(webUri),
    locale,
  },
  linkInput: { link: needed(notEmpty) },
  linkIdentifyInput: {
    link: needed(notEmpty),
    account_id: needed(id),
    locale,
    own_page: optional(boolean),
    choice: or(orNull(choiceQuestion), null),
  },
  linkApproveInput: {
    link: needed(notEmpty),
    account_id: needed(id),
    scope: optional(scope),
    choice: or(orNull(choiceOption), null),
  },
  secretInput: { application_id: needed(id), expires_at: or(orNull(moment), null) },
  secretIdInput: { application_id: needed(id), secret_id: needed(id) },
  accountInput: {
    account_id: needed(id),
    username: needed(username),
    display_name: optional(hostText),
    twitter: or(orNull(hostText), null),
    verified: or(boolean, false),
    supporter: or(boolean, false),
    external_id: or(orNull(externalId), null),
  },
  codeIssueInput: {
    application_id: needed(id),
    account_id: needed(id),
    scope: needed(scope),
    redirect_uri: optional(redirectUri),
    code_challenge: optional(challenge),
    resource: optional(any),
    choice: or(orNull(choiceOption), null),
  },
  listInput: listMembers,
  documentPinInput: { document_uri: needed(textOf500), document: needed(object) },
  documentUriInput: { document_uri: needed(textOf500) },
  documentListInput: {
    ...{ pinned: optional(boolean), limit: or(limit, 50) },
    cursor: optional(keptIf((value) => /^[0-9A-Za-z_-]{11,667}$/.test(value))),
  },
  connectionListInput: {
    ...{ account_id: needed(id), limit: or(limit, 50) },
    cursor: optional(keptIf((value) => /^[0-9A-Za-z_-]{23,1100}$/.test(value))),
  },
  applicationListInput: { documents: optional(boolean), ...listMembers },
  accountListInput: {
    ...{ username: optional(hostText), external_id: optional(externalId) },
    ...listMembers,
  },
  grantFilterInput: { account_id: optional(id), application_id: optional(id) },
  grantListInput: { account_id: optional(id), application_id: optional(id), ...listMembers },
  endpointInput: {
    url: needed(endpointUrl),
    application_id: or(orNull(id), null),
    types: or(orNull(eventTypes), null),
  },
  endpointListInput: { application_id: optional(id), ...listMembers },
  endpointIdInput: { endpoint_id: needed(id) },
  endpointUpdateInput: {
    endpoint_id: needed(id),
    url: optional(endpointUrl),
    types: optional(orNull(eventTypes)),
    disabled: optional(boolean),
  },
  endpointRotationInput: {
    endpoint_id: needed(id),
    overlap_seconds: or(wholeNumberUpTo(604_800, 0), 86_400),
  },
  replayInput: { endpoint_id: needed(id), since: needed(moment) },
  deliveryListInput: {
    ...{ endpoint_id: optional(id), grant_id: optional(id) },
    status: optional(
      keptIf((value) => ['pending', 'delivered', 'failed', 'dropped'].includes(value)),
    ),
    ...listMembers,
  },
  deliveryIdInput: { delivery_id: needed(id) },
  refusalListInput: {
    request_id: optional(requestId),
    ...{ application_id: optional(id), account_id: optional(id), grant_id: optional(id) },
    since: optional(moment),
    ...listMembers,
  },
};

/** The parsed input, and the paths that are refused. */
function readPlainly(name: keyof typeof inputs, input: Record<string, unknown>) {
  const output: Record<string, unknown> = {};
  const refused: string[] = [];
  for (const [member, [rule, missing]] of Object.entries(contract[name])) {
    const read = Object.hasOwn(input, member) ? rule(input[member]) : missing;
    if (read === 'refused') refused.push(member);
    else if (read !== 'absent') output[member] = read.value;
  }
  const isOfApplications = [
    'noInput',
    'codeInput',
    'tokenInput',
    'registrationInput',
    'ownGrantIdInput',
  ].includes(name);
  const areKnown = Object.keys(input).every((member) => Object.hasOwn(contract[name], member));
  if (!isOfApplications && !areKnown) refused.push('');
  const given = (...members: string[]) =>
    members.filter((member) => Object.hasOwn(input, member)).length;
  if (
    (name === 'grantListInput' || name === 'grantFilterInput') &&
    given('account_id', 'application_id') !== 1
  ) {
    refused.push('');
  }
  if (name === 'deliveryListInput' && given('endpoint_id', 'grant_id') !== 1) refused.push('');
  if (name === 'accountListInput' && given('username', 'external_id') > 1) refused.push('');
  const filters = ['request_id', 'application_id', 'account_id', 'grant_id'];
  if (name === 'refusalListInput' && given(...filters) > 1) refused.push('');
  const asksItself = name === 'linkIdentifyInput' && output.own_page === true;
  if (refused.length === 0 && asksItself && output.choice !== null) refused.push('choice');
  return { output, refused };
}

// Values of each kind: valid ones and almost valid ones.

/** Strings that have broken parsers: lone surrogates, NUL, bidi controls, property names. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 210 }),
  fc.string({ unit: 'grapheme', maxLength: 210 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 5 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('', '\0', '\ud800', '\udc00', '\u202e', '__proto__', '$ne', 'a.b', 'null', '0'),
  // What is taken out where something else is beside it, in any order.
  fc
    .array(
      fc.constantFrom(
        ...['a', '🏴', ' ', '\u0301', '\u0903', '\u20e3', '\u0958', '\u1100', '\u1161'],
        ...['\u200c', '\u200d', '\ufe0e', '\ufe0f', '\u034f', '\u200f', '\u3164', '\u2800'],
        ...['\u{e0020}', '\u{e0067}', '\u{e007e}', '\u{e007f}', '\u{e0001}', '\u2028'],
      ),
      { maxLength: 12 },
    )
    .map((characters) => characters.join('')),
  fc
    .tuple(fc.constantFrom('a', '🔑', '\u0301'), fc.integer({ min: 198, max: 202 }))
    .map(([character, count]) => character.repeat(count)),
);
const tokens = fc
  .array(fc.stringMatching(/^[!-~]{0,4}$/), { maxLength: 34 })
  .map((list) => list.join(' '));
const manyTokens = fc
  .integer({ min: 30, max: 34 })
  .map((count) => Array.from({ length: count }, (_, i) => `t${i}`).join(' '));
const longTokens = fc
  .tuple(fc.integer({ min: 495, max: 505 }), fc.integer({ min: 495, max: 505 }))
  .map(([one, two]) => `${'a'.repeat(one)} ${'b'.repeat(two)}`);
const pad = (digits: number) => (number: number) => String(number).padStart(digits, '0');
const dates = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('1900', '2000', '2028', '9999', '10000'),
      fc.nat({ max: 9999 }).map(pad(4)),
    ),
    fc.nat({ max: 13 }).map(pad(2)),
    fc.nat({ max: 32 }).map(pad(2)),
    fc.nat({ max: 25 }).map(pad(2)),
    fc.constantFrom(
      ':00:00',
      ':59:59.999',
      ':59:60',
      ':60:00',
      ':30',
      ':00:00.',
      ':07:07.123456789',
    ),
    fc.constantFrom('Z', '', 'z', '+00:00', '-00:01', '+23:59', '-23:59', '+24:00', '+0000', ' Z'),
  )
  .map(
    ([year, month, day, hour, rest, offset]) => `${year}-${month}-${day}T${hour}${rest}${offset}`,
  );
/** Around the last minute of the year 9999, with different offsets. */
const lastMoments = fc
  .tuple(
    fc.constantFrom('22:59', '23:58', '23:59'),
    fc.constantFrom('Z', '-00:01', '-01:00', '+00:01'),
  )
  .map(([time, offset]) => `9999-12-31T${time}:59.999${offset}`);
const ids = fc
  .tuple(fc.uuid(), fc.boolean())
  .map(([value, upper]) => (upper ? value.toUpperCase() : value));
const cursors = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[0-9A-Za-z_-]{21}[AQgw]$/) },
  { weight: 1, arbitrary: fc.stringMatching(/^[0-9A-Za-z_+=-]{20,23}$/) },
);

const uriPart = fc.stringMatching(/^[A-Za-z0-9._~!$&'()*+,;=:@%-]{0,6}$/);
const uriTexts = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(
        'https:',
        'http:',
        'HTTPS:',
        'com.example.app:',
        'custom:',
        'javascript:',
        'moz-extension:',
        '',
      ),
      fc.constantFrom('', '/', '//', '///'),
      fc.oneof(
        fc.constantFrom('app.example', '127.0.0.1', '[::1]', 'localhost', 'LOCALHOST', '127.0.0.2'),
        fc.constantFrom('localhost.evil.example', 'user@app.example', '[fe80::1]', '1.2.3.256'),
        uriPart,
      ),
      fc.constantFrom('', ':', ':8080', ':443', ':80', ':65536', ':123456', ':x'),
      fc.constantFrom(
        '',
        '/',
        '/cb',
        '/cb/',
        '//',
        '/a/../b',
        '/a%20b',
        '/a%2',
        '/ü',
        '/a b',
        '/*',
        '/[x]',
        '\\',
      ),
      fc.constantFrom('', '?', '?a=b', '?code=1', '?c%6Fde=1', '?state', '?a=b&iss=', '?a=?error'),
      fc.constantFrom('', '', '', '#', '#x'),
    )
    .map((parts) => parts.join('')),
  fc.integer({ min: 496, max: 504 }).map((length) => 'https://app.example/'.padEnd(length, 'a')),
);
const logos = fc.oneof(
  uriTexts,
  fc
    .tuple(
      fc.constantFrom('png', 'webp', 'jpeg', 'gif', 'svg+xml', 'svg', 'bmp'),
      fc.constantFrom(';base64,', ',', ';base64'),
      fc.oneof(
        fc.constantFrom('', '=', 'AAAA', 'AA==', 'AA===', 'A,A', 'A A', '+/+/'),
        fc.integer({ min: 8_160, max: 8_175 }).map((length) => 'A'.repeat(length)),
      ),
    )
    .map(([type, separator, data]) => `data:image/${type}${separator}${data}`),
);
const languages = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('de', 'pt-BR', 'zh-Hant-TW') },
  fc.constantFrom('a', 'de-', 'de_AT', 'x', '12', ''),
);
const words = fc.record(
  { title: hostileText, description: hostileText, more: fc.boolean() },
  { requiredKeys: ['title'] },
);
const shortText = fc.oneof(
  { weight: 3, arbitrary: fc.string({ minLength: 1, maxLength: 20 }) },
  fc
    .tuple(fc.constantFrom('a', '🔑'), fc.constantFrom(99, 100, 101, 299, 300, 301))
    .map(([character, count]) => character.repeat(count)),
);
const listsOf = (item: fc.Arbitrary<unknown>, most: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.array(item, { maxLength: 3 }) },
    fc
      .constantFrom(most - 1, most, most + 1)
      .map((count) => Array.from({ length: count }, (_, i) => `https://app.example/${i}`)),
  );

const value = fc.oneof(
  { weight: 3, arbitrary: ids },
  { weight: 3, arbitrary: hostileText },
  tokens,
  longTokens,
  manyTokens,
  dates,
  lastMoments,
  cursors,
  fc.boolean(),
  fc.constant(null),
  fc.oneof(fc.integer({ min: -1, max: 102 }), fc.double()),
  fc.jsonValue({ stringUnit: 'binary' }),
  fc.dictionary(fc.constantFrom('$ne', '$gt', '$regex', 'toString', 'length'), hostileText),
);
/** Likely values by member. Without them, an input with several members would rarely be valid. */
const optionLike = fc.record(
  {
    id: fc.oneof({ weight: 4, arbitrary: fc.stringMatching(/^[!-~]{1,3}$/) }, hostileText),
    label: fc.oneof(shortText, hostileText),
  },
  { requiredKeys: ['id'] },
);

const likely: Record<string, fc.Arbitrary<unknown>> = {
  resource: uriTexts,
  ...{ redirect_uri: uriTexts, return_url: uriTexts, homepage_uri: uriTexts, logo_uri: logos },
  ...{ policy_uri: uriTexts, tos_uri: uriTexts },
  redirect_uris: listsOf(fc.oneof(fc.constant('https://app.example/cb'), uriTexts), 20),
  scopes: fc.option(listsOf(fc.stringMatching(/^[!-~]{1,4}$/), 200)),
  default_scopes: fc.option(
    fc.oneof(
      listsOf(fc.stringMatching(/^[!-~]{1,4}$/), 32),
      listsOf(fc.stringMatching(/^[!-~]{30,40}$/), 32),
    ),
  ),
  texts: fc.dictionary(
    languages,
    fc.oneof(words, {
      weight: 4,
      arbitrary: fc.record(
        { title: shortText, description: fc.option(shortText) },
        { requiredKeys: ['title'] },
      ),
    }),
    { maxKeys: 2 },
  ),
  ...{ title: shortText, description: fc.option(shortText), locale: languages },
  ...{ public: fc.boolean(), resource_server: fc.boolean(), sensitive: fc.boolean() },
  ...{ challenge_required: fc.boolean(), own_page: fc.boolean() },
  idle_days: fc.option(fc.integer({ min: -1, max: 3652 })),
  grants_per_account: fc.option(fc.integer({ min: -1, max: 102 })),
  page: fc.constantFrom('connections', 'consent', ''),
  code_verifier: fc.stringMatching(/^[A-Za-z0-9._~-]{42,129}$/),
  external_id: fc.oneof(hostileText, fc.stringMatching(/^[ -~]{0,129}$/)),
  code_challenge: fc.stringMatching(/^[A-Za-z0-9_-]{42,44}$/),
  url: uriTexts,
  types: fc.option(
    fc.uniqueArray(
      fc.constantFrom(
        ...['grant.created', 'grant.revoked', 'account.updated', 'application.disabled'],
        ...['application.enabled', 'ping', ''],
      ),
      { maxLength: 6 },
    ),
  ),
  ...{ disabled: fc.boolean(), endpoint_id: ids, delivery_id: ids },
  overlap_seconds: fc.oneof(
    fc.integer({ min: -1, max: 604_802 }),
    fc.constantFrom(-1, 0, 604_800, 604_801),
  ),
  status: fc.constantFrom('pending', 'delivered', 'failed', 'dropped', 'Failed', ''),
  role: fc.constantFrom('read', 'host', 'support', 'operate', 'root', 'Read'),
  ...{
    resource_id: ids,
    key_id: ids,
    grant_id: ids,
    application_id: ids,
    account_id: ids,
    secret_id: ids,
  },
  ...{ username: hostileText, display_name: hostileText, twitter: hostileText, name: hostileText },
  ...{
    scope: fc.oneof(fc.stringMatching(/^[!-~]{1,4}$/), tokens, longTokens, manyTokens),
    expires_at: fc.oneof(dates, lastMoments),
    since: fc.oneof(dates, lastMoments),
    request_id: fc.oneof(hostileText, fc.stringMatching(/^[ -~]{0,201}$/)),
    cursor: cursors,
  },
  hours: fc.integer({ min: -1, max: 722 }),
  choice: fc.oneof(
    fc.constant(null),
    optionLike,
    fc.record(
      {
        title: shortText,
        options: fc.oneof(
          fc.array(optionLike, { maxLength: 3 }),
          fc
            .tuple(
              fc.integer({ min: 98, max: 102 }),
              fc.integer({ min: 20, max: 80 }),
              fc.constantFrom('A', '\ufb2c'),
            )
            .map(([count, length, letter]) =>
              Array.from({ length: count }, (_, i) => ({
                ...{ id: `${i}`, label: letter.repeat(length / (letter === 'A' ? 1 : 3)) },
              })),
            ),
        ),
      },
      { requiredKeys: ['options'] },
    ),
  ),
  ...{ limit: fc.integer({ min: -1, max: 102 }), verified: fc.boolean(), supporter: fc.boolean() },
};

/**
 * Right values of members whose likely ones are rarely right. An input with seven of those would hardly
 * ever be valid.
 */
const right: Record<string, fc.Arbitrary<unknown>> = {
  name: fc.constant('Acme'),
  resource: fc.constant('https://files.example/v1'),
  since: fc.constant('2026-11-21T02:15:30Z'),
  request_id: fc.constant('0193aa00-0000-7000-8000-000000000001'),
  redirect_uris: fc.constantFrom([], ['https://app.example/cb', 'com.example.app:/cb']),
  grant_types: fc.constantFrom(['refresh_token', 'authorization_code'], ['authorization_code']),
  response_types: fc.constantFrom(['code'], ['code', 'token'], ['token']),
  scopes: fc.constantFrom(null, ['profile.read', 'posts.read']),
  logo_uri: fc.constantFrom(null, 'https://app.example/logo.png'),
  homepage_uri: fc.constantFrom(null, 'https://app.example/'),
  policy_uri: fc.constantFrom(null, 'https://app.example/privacy'),
  tos_uri: fc.constantFrom(null, 'https://app.example/terms'),
  scope: fc.constant('profile.read'),
  page: fc.constant('connections'),
  url: fc.constant('https://app.example/events'),
  types: fc.constantFrom(null, ['grant.revoked', 'grant.created']),
  redirect_uri: fc.constant('https://app.example/cb'),
  return_url: fc.constant('https://app.example/connections'),
  code_challenge: fc.constant('A'.repeat(43)),
  texts: fc.constantFrom({}, { de: { title: 'Profil lesen' } }),
  document: fc.dictionary(shortText, fc.jsonValue()),
};

/** An input as parsed from JSON, where `__proto__` is an ordinary member. */
function inputOf(name: keyof typeof inputs): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.keys(contract[name]).map((member) => {
    const mostly = { weight: 6, arbitrary: likely[member] ?? hostileText };
    const known = right[member];
    const often = known === undefined ? [] : [{ weight: 20, arbitrary: known }];
    return fc.option(
      fc.tuple(fc.constant(member), fc.oneof(...often, mostly, { weight: 1, arbitrary: value })),
      // With most of them present, hardly any would have at most one filter.
      { nil: undefined, freq: name === 'refusalListInput' ? 1 : 8 },
    );
  });
  const unknown = fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toJSON',
    '',
    '$set',
    'id',
  );
  // Most inputs have none, since an operator's input may have none.
  const others = fc.array(fc.tuple(unknown, value), { minLength: 1, maxLength: 2 });
  const more = fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: others },
  );
  return fc.tuple(fc.tuple(...members), more).map(([own, others]) => {
    const entries = [...own.filter((entry) => entry !== undefined), ...others];
    return JSON.parse(JSON.stringify(Object.fromEntries(entries)));
  });
}

const runs = { numRuns: longer(300, 20_000) };
const schemas = Object.entries(inputs) as [keyof typeof inputs, z.ZodType<object>][];

it.each(schemas)('%s takes what the contract says, and nothing else', (name, schema) => {
  const reached = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(inputOf(name), (input) => {
      const { output, refused } = readPlainly(name, input);
      const result = schema.safeParse(input);
      const paths = new Set(result.error?.issues.map(({ path }) => String(path[0] ?? '')));
      // What is wrong with the members together may be told only once each is right.
      if (refused.some((path) => path !== '')) paths.add('');
      expect(refused.filter((path) => !paths.has(path))).toEqual([]);
      expect([...paths].filter((path) => path !== '' && !refused.includes(path))).toEqual([]);
      expect(result.success).toBe(refused.length === 0);
      reached[result.success ? 'taken' : 'refused']++;
      if (!result.success) return;
      expect(result.data).toEqual(output);
      expect(Object.getPrototypeOf(result.data)).toBe(Object.prototype);
      expect(schema.parse(result.data)).toEqual(result.data);
      // What is compared with the clock has a time.
      for (const time of [output.expires_at, output.since]) {
        if (typeof time === 'string') expect(Date.parse(time)).not.toBeNaN();
      }
    }),
    runs,
  );
  // Otherwise the test would prove nothing.
  expect(reached.taken).toBeGreaterThan(runs.numRuns / 100);
  if (name !== 'noInput') expect(reached.refused).toBeGreaterThan(runs.numRuns / 100);
});

it.each(schemas)('%s accepts null only where the contract says so', (name, schema) => {
  for (const member of Object.keys((schema as z.ZodObject).shape)) {
    const input = { [member]: null };
    const refused = schema.safeParse(input).error?.issues.map(({ path }) => path[0]) ?? [];
    expect(refused.includes(member), member).toBe(
      readPlainly(name, input).refused.includes(member),
    );
  }
});

it.each(schemas)('%s takes no JSON but an object, and throws at none', (name, schema) => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (json) => {
      const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
      const { success } = schema.safeParse(json);
      if (!isObject) expect(success).toBe(false);
      else expect(success).toBe(readPlainly(name, json).refused.length === 0);
    }),
    runs,
  );
});
