import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reasons } from '@latchkey/domain/reasons';
import { endpointSecret } from '@latchkey/rules/events/endpoint-secret';
import { messageHeaders } from '@latchkey/rules/events/message';
import { nextAttemptAt } from '@latchkey/rules/events/timetable';
import {
  attemptResults,
  credentialParts,
  credentialPattern,
  credentialPrefixes,
  errorTable,
  events,
  inputs,
  messageTypes,
  operations,
  parseCredential,
} from '@latchkey/schema';
import { loadSettings } from '@latchkey/server';
import { grantEventId } from '@latchkey/store/event';
import { describe, expect, test } from 'vitest';
import vectors from '../packages/schema/src/credential-vectors.json' with { type: 'json' };
import { sourcesOfService } from './support/manifests.ts';
import { anchors, codeBlocks, tableBelow } from './support/markdown.ts';
import { protocolPage } from './support/protocol/examples.ts';
import { listed, schemaOf } from './support/protocol/operation-tables.ts';

// Compares the tables of docs/protocol with those of the code. What only one of them has fails.

const credentials = await protocolPage('credentials.md');
const errors = await protocolPage('errors.md');
const eventsPage = await protocolPage('events.md');
const limits = await protocolPage('limits.md');

describe('the errors', () => {
  /** Rows with the same first cells are one, with all of their last cells. */
  function grouped(rows: string[][]): string[][] {
    const lists = new Map<string, string[]>();
    for (const cells of rows) {
      const [last = '', first] = [cells.at(-1), cells.slice(0, -1).join(' | ')];
      lists.set(first, [...(lists.get(first) ?? []), last]);
    }
    return [...lists].map(([first, last]) => [...first.split(' | '), last.join(', ')]);
  }

  test('are those of the error table', () => {
    const rows = Object.entries<{
      status: number;
      error: string;
      members?: readonly string[];
      retryAfter?: number;
    }>(errorTable).map(([code, { status, error, members, retryAfter }]) => [
      ...[String(status), error, String(retryAfter ?? '–')],
      members === undefined ? code : `${code} (${listed(members)})`,
    ]);
    expect(tableBelow(errors, 'Codes')).toEqual(grouped(rows));
  });

  test('have the reasons that the operator can ask for', () => {
    const rows = Object.entries(reasons).map(([name, { code }]) => [code, name]);
    expect(tableBelow(errors, 'Reasons')).toEqual(grouped(rows));
  });
});

describe('the lengths of the input', () => {
  const letters = (length: number) => 'a'.repeat(length);
  const fill = (before: string) => (length: number) => before + letters(length - before.length);
  const list =
    <One>(one: (index: number) => One) =>
    (length: number) =>
      Array.from({ length }, (_, index) => one(index));
  const { applicationInput, scopeInput, codeIssueInput } = inputs;

  type Taker = [schema: unknown, make: (length: number) => unknown];

  /** What takes a value of a length, by the name of its row, other than a plain text or number. */
  const takers: Record<string, Taker> = {
    'name of a resource': [inputs.resourceInput.shape.name, letters],
    texts: [
      scopeInput.shape.texts,
      (length) =>
        Object.fromEntries(
          list((i) => `de-${String(i).padStart(4, '0')}`)(length).map((tag) => [
            tag,
            { title: 'a' },
          ]),
        ),
    ],
    scope: [codeIssueInput.shape.scope, letters],
    'scope in /admin/scopes/{scope}': [scopeInput.shape.scope, letters],
    scopes: [applicationInput.shape.scopes, list(String)],
    default_scopes: [applicationInput.shape.default_scopes, list(String)],
    'scopes of a resource': [inputs.resourceInput.shape.scopes, list(String)],
    resource: [inputs.resourceInput.shape.resource, fill('https://a')],
    redirect_uris: [applicationInput.shape.redirect_uris, list((i) => `https://app.example/${i}`)],
    redirect_uri: [codeIssueInput.shape.redirect_uri, fill('a.a:')],
    homepage_uri: [applicationInput.shape.homepage_uri, fill('https://a')],
    policy_uri: [applicationInput.shape.policy_uri, fill('https://a')],
    tos_uri: [applicationInput.shape.tos_uri, fill('https://a')],
    return_url: [inputs.pageCreateInput.shape.return_url, fill('https://a')],
    url: [inputs.endpointInput.shape.url, fill('https://a')],
    logo_uri: [applicationInput.shape.logo_uri, fill('https://a')],
    'logo_uri as data:': [applicationInput.shape.logo_uri, fill('data:image/png;base64,')],
    'choice of identify': [
      inputs.linkIdentifyInput.shape.choice,
      (length) => ({ title: 'a', options: list((i) => ({ id: `${i}` }))(length) }),
    ],
    'choice with title': [
      inputs.linkIdentifyInput.shape.choice,
      (length) => ({ title: letters(length), options: [{ id: 'a' }] }),
    ],
    'choice with id': [codeIssueInput.shape.choice, (length) => ({ id: letters(length) })],
    'choice with label': [
      codeIssueInput.shape.choice,
      (length) => ({ id: 'a', label: letters(length) }),
    ],
    types: [inputs.endpointInput.shape.types, (length) => messageTypes.slice(0, length)],
  };

  /** Of a member that is a text or a number, as the first input has it. */
  function plainTaker(member: string): Taker {
    const shapes = Object.values(inputs as Record<string, unknown>).map(
      (input) => schemaOf(input).shape ?? {},
    );
    const schema = shapes.find((shape) => member in shape)?.[member];
    const isNumber = schema?.safeParse(1).success === true;
    return [schema, isNumber ? (length) => length : letters];
  }

  const rows = tableBelow(limits, 'Input').flatMap(([names = '', ...lengths]) =>
    names.split(', ').map((name) => [name, ...lengths]),
  );

  test('are there for every member that has one', () => {
    // Ids are UUIDs, credentials have a format, and the rest has no length.
    const without =
      /_id$|^(?:code|token|token_type_hint|link|page|locale|cursor|expires_at|since|role|public|documents|document|pinned|resource_server|challenge_required|sensitive|verified|supporter|own_page|disabled|status)$/;
    const members = Object.values(operations).flatMap(({ input }) =>
      Object.keys(schemaOf(input).shape),
    );
    const named = rows.map(([name = '']) => name.split(' ')[0] as string);
    expect(new Set(named)).toEqual(new Set(members.filter((name) => !without.test(name))));
    expect(rows.map(([name]) => name)).toEqual(expect.arrayContaining(Object.keys(takers)));
  });

  // A URI is not shorter than its scheme and its host.
  const shortest: Record<string, number> = { 'logo_uri as data:': 30, redirect_uri: 5 };

  test.each(rows)('%s: %s to %s', (name = '', least = '', most = '') => {
    const [schema, make] = takers[name] ?? plainTaker(name);
    const takes = (length: number) => schemaOf(schema).safeParse(make(length)).success;
    const isUri =
      /^(?:redirect_uri|homepage_uri|policy_uri|tos_uri|return_url|url|logo_uri.*|resource)$/.test(
        name,
      );
    const from = isUri ? (shortest[name] ?? 10) : Number(least);
    const to = Number(most);
    expect([takes(from), takes(to), takes(to + 1)]).toEqual([true, true, false]);
    if (from > 0 && !isUri) expect(takes(from - 1)).toBe(false);
  });

  test('of a scope allow as many tokens as the page says', () => {
    const [, most = ''] = /at most (\d+) tokens/.exec(limits) ?? [];
    const takes = (count: number) =>
      codeIssueInput.shape.scope.safeParse(list(String)(count).join(' ')).success;
    expect([takes(Number(most)), takes(Number(most) + 1)]).toEqual([true, false]);
  });
});

describe('the lifetimes and the sizes', () => {
  const root = fileURLToPath(new URL('../', import.meta.url));

  /** Numbers that are exported for another file, and that no client can notice. */
  const unseen = [
    'BLOCKING_MS',
    'BUFFER_BYTES',
    'COUNTS_KEPT',
    'DEFAULT_AUDIT_DAYS',
    'DEFAULT_MIN_FREE_MB',
    'LINE_BYTES',
    'MAX_QUEUED',
    'RIGHTS_OF_OTHERS',
    'SCHEMA.oldest',
    'SCHEMA.version',
    'STALLED_AFTER',
  ];

  /** The exported numbers of the sources: a constant may move from one file to another. */
  async function exportedNumbers(): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    for (const path of await sourcesOfService()) {
      const text = await readFile(root + path, 'utf8');
      if (!/^export const [A-Z][A-Z_]+\b/m.test(text)) continue;
      const module: Record<string, unknown> = await import(pathToFileURL(root + path).href);
      for (const [name, value] of Object.entries(module)) {
        if (!/^[A-Z][A-Z_]+$/.test(name)) continue;
        const members = typeof value === 'number' ? { '': value } : Object(value);
        for (const [member, number] of Object.entries(members)) {
          if (typeof number !== 'number') continue;
          numbers.set(member === '' ? name : `${name}.${member}`, number);
        }
      }
    }
    return numbers;
  }

  const units: Record<string, number> = { s: 1_000, KiB: 1_024 };

  test('are the exported numbers of the code', async () => {
    const inCode = await exportedNumbers();
    for (const name of unseen) expect(inCode.delete(name), name).toBe(true);
    const rows = [...tableBelow(limits, 'Lifetimes'), ...tableBelow(limits, 'Sizes')];
    const onPage = rows.map(([, name = '', value = '']): [string, number] => {
      const [number, unit = ''] = value.split(' ');
      return [name, Number(number) * (units[unit] ?? 1)];
    });
    expect(Object.fromEntries(onPage)).toEqual(Object.fromEntries(inCode));
  });
});

test('the rate limits have their defaults', () => {
  const defaults = Object.entries(loadSettings({}).rateLimit ?? {});
  expect(tableBelow(limits, 'Rate limits').map((cells) => cells.slice(0, 2))).toEqual(
    defaults.map(([name, { limit, seconds }]) => [name, `${limit}/${seconds}`]),
  );
});

describe('the events', () => {
  test('have the types and the members of the code', () => {
    const rows = schemaOf(events.event).def.options?.map(({ shape }) => [
      shape.type?.def.values?.[0],
      listed(Object.keys(shape.data?.shape ?? {})),
    ]);
    const onPage = tableBelow(eventsPage, 'What is told');
    expect(onPage.map(([type, , members]) => [type, members])).toEqual(rows);
  });

  test('are signed as in the example', () => {
    const [example] = codeBlocks(eventsPage).filter(({ language }) => language === 'http');
    const [, ...lines] = example?.code.trim().split('\n') ?? [];
    const body = lines.at(-1) ?? '';
    const headers = new Map(
      lines.slice(0, -2).map((line) => line.split(/: (.*)/) as [string, string]),
    );
    const { type, data } = events.grantRevoked.parse(JSON.parse(body));
    const eventId = grantEventId(data.grant_id, type);
    const secret = /`(whsec_[^`…]+)`/.exec(eventsPage)?.[1] ?? '';
    const now = Number(headers.get('webhook-timestamp')) * 1_000;
    const userAgent = headers.get('User-Agent') ?? '';
    const sent = messageHeaders({ eventId, body }, { secrets: [secret], userAgent, now });
    headers.delete('Host');
    expect(
      Object.fromEntries([...headers].map(([name, value]) => [name.toLowerCase(), value])),
    ).toEqual(sent);
    // Of `EVENTS_KEY` and the endpoint of these examples.
    const key = 'an-events-key-for-examples-with-32-characters';
    expect(endpointSecret(key, '0193aa00-0050-700b-8000-00000000000b', 1)).toBe(secret);
  });

  test('are tried by the timetable of the code', () => {
    const seconds: Record<string, number> = { s: 1, min: 60, h: 3_600 };
    const rows = tableBelow(eventsPage, 'Tries').map(([number, after = '']) => {
      const [count, unit = ''] = after.split(' ');
      return [Number(number), Number(count) * (seconds[unit] ?? Number.NaN)];
    });
    const pauseBefore = (number: number) => {
      const tried = { type: 'grant.revoked', tries: number - 2 } as const;
      const at = nextAttemptAt(tried, { now: 0, retryAfterSeconds: null, random: 0.5 });
      return at === null ? null : at / 1_000;
    };
    expect(rows).toEqual(rows.map(([number = 0]) => [number, pauseBefore(number)]));
    expect(pauseBefore(rows.length + 2)).toBeNull();
  });

  test('have the results of the code', () => {
    expect(tableBelow(eventsPage, 'Results').map(([result]) => result)).toEqual([
      ...attemptResults,
    ]);
  });
});

describe('the credentials', () => {
  test('have the prefixes and the pattern of the code', () => {
    const prefixes = tableBelow(credentials, 'Kinds').map(([, prefix]) => prefix);
    expect(prefixes).toEqual(Object.values(credentialPrefixes));
    expect(credentials).toContain(`\`${credentialPattern.source}\``);
  });

  test('are right where the page says so', () => {
    const rows = tableBelow(credentials, 'Vectors');
    expect(rows.length).toBeGreaterThan(2);
    for (const [credential = '', id, random_hex] of rows) {
      expect(vectors.valid).toContainEqual(expect.objectContaining({ credential, id, random_hex }));
      const [kind] = Object.entries(credentialPrefixes).find(([, prefix]) =>
        credential.startsWith(`${prefix}_`),
      ) as [keyof typeof credentialPrefixes, string];
      const parts = credentialParts(kind, credential);
      expect(parts?.id).toBe(id);
      expect(Buffer.from(parts?.random ?? []).toString('hex')).toBe(random_hex);
    }
  });

  test('are wrong where the page says so', () => {
    const rows = tableBelow(credentials, 'Wrong vectors');
    expect(rows.length).toBeGreaterThan(2);
    for (const [credential = '', why] of rows) {
      expect(vectors.invalid).toContainEqual({ credential, why });
      expect(parseCredential('code', credential)).toBeNull();
    }
  });

  test('are as many in the file as the page says', () => {
    expect(credentials).toContain(`${vectors.valid.length} right credentials`);
    expect(credentials).toContain(`${vectors.invalid.length} wrong ones`);
  });
});

test('comments that name a section of docs/protocol lead to one', async () => {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const dead: string[] = [];
  const sections = new Map<string, Set<string>>();
  const exclude = (name: string) => ['node_modules', 'dist'].includes(name.split('/').at(-1) ?? '');
  for await (const path of glob('{apps,packages,benchmarks}/**/*.ts', { cwd: root, exclude })) {
    const text = await readFile(root + path, 'utf8');
    for (const [, name = '', section = ''] of text.matchAll(
      /docs\/protocol\/(\w+\.md)#([\w-]+)/g,
    )) {
      const known = sections.get(name) ?? anchors(await protocolPage(name));
      sections.set(name, known);
      if (!known.has(section)) dead.push(`${path}: ${name}#${section}`);
    }
  }
  expect(dead).toEqual([]);
});
