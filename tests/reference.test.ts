import { fileURLToPath } from 'node:url';
import * as client from '@latchkey/client';
import * as admin from '@latchkey/client/admin';
import * as events from '@latchkey/client/events';
import * as guards from '@latchkey/client/guards';
import * as host from '@latchkey/client/host';
import * as linking from '@latchkey/client/linking';
import { type ErrorCode, errorTable, type OperationName, operations } from '@latchkey/schema';
import { slow } from '@latchkey/test-kit/long';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import * as testing from '@latchkey/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { errorClass } from '../packages/client/src/error-classes.ts';
import { APPLICATION } from './support/application.ts';
import { staleFiles } from './support/generated/stale.ts';
import { codeBlocks } from './support/markdown.ts';
import { makeReference, type Named, pages, type Reference } from './support/reference/reference.ts';
import { typeCheck } from './support/type-check.ts';

let reference: Reference;
beforeAll(async () => {
  reference = await makeReference();
}, INSTALL_TIMEOUT_MS);

test('what is committed is what the docstrings say', async () => {
  const made = new Map(pages.map((page) => [`docs/reference/${page}.md`, reference.pages[page]]));
  const root = fileURLToPath(new URL('..', import.meta.url));
  expect(await staleFiles(root, made), 'Run: npm run generate').toEqual([]);
});

// A compilation of a hundred files, which a busy machine takes its time for.
test('each of their examples compiles on its own', { timeout: 300_000, ...slow }, () => {
  const blocks = pages.map((page) => codeBlocks(reference.pages[page]));
  for (const ofPage of blocks) expect(ofPage.length).toBeGreaterThan(3);
  const programs = blocks.flat().filter(({ language }) => language === 'ts');
  const files = programs.map(({ code }) => {
    const imports = code.match(/^import .*$/gm) ?? [];
    const statements = code.replaceAll(/^import .*$|^export /gm, '');
    const program = `${APPLICATION}export async function example() {\n${statements}\n}`;
    return [...imports, program].join('\n');
  });
  expect(typeCheck(...files)).toEqual([]);
});

/** A name with its own docstring. A function has it on its signature. */
interface Documented {
  path: string;
  named: Named;
  text: string;
}

const textOf = ({ comment }: Named) => (comment?.summary ?? []).map(({ text }) => text).join('');
const blocks = ({ comment }: Named, tag: string) =>
  (comment?.blockTags ?? []).filter((block) => block.tag === tag);

/** Every exported name and every member of one. */
function documented(names: readonly Named[], within = ''): Documented[] {
  return names.flatMap(({ signatures, ...named }) => {
    const path = within + named.name;
    const own = signatures ?? [named];
    return [
      ...own.map((each) => ({ path, named: each, text: textOf(each) })),
      ...documented(named.children ?? [], `${path}.`),
    ];
  });
}

/** Whether a member can have one value only, such as `object: 'oauth_grant'`: it needs no docstring. */
const hasOneValue = ({ type }: Named) => type?.type === 'literal';

const member = (of: string, path: string) => path.startsWith(`${of}.`);

/** Names that applications or frameworks implement and the SDK calls. */
const BROUGHT = [
  ...['Logger', 'GrantReader', 'ExpressResponse', 'FastifyReply', 'HonoContext'],
  ...['LinkingClient', 'LinkingOptions', 'ExpressLinkingResponse', 'FastifyLinkingReply'],
  ...['HonoLinkingContext', 'FetchLinkingRequest', 'HostOptions', 'ExpressHostResponse'],
  ...['FastifyHostReply', 'HonoHostContext', 'FetchHostRequest', 'MetadataResponse'],
  ...['ExpressEventsResponse', 'FastifyEventsReply', 'FetchEventsRequest', 'HonoEventsContext'],
  ...['NodeBody', 'FetchBody', 'BodyReader'],
];
const calls = () =>
  documented(reference.names).filter(
    ({ named, path }) => named.variant === 'signature' && !path.startsWith('Fetch'),
  );

describe('a docstring', () => {
  test('with a sentence is at every name', () => {
    expect(reference.names.map(({ name }) => name)).toEqual(
      expect.arrayContaining(
        Object.keys({ ...client, ...events, ...guards, ...linking, ...host, ...admin, ...testing }),
      ),
    );
    const without = documented(reference.names)
      .filter(({ named, text }) => !hasOneValue(named) && !/^\S+ .*\S[.:]?$/s.test(text))
      .map(({ path }) => path);
    expect(without).toEqual([]);

    // A class without a docstring inherits that of the class it extends.
    const own = new Map(reference.names.map((named) => [textOf(named), named.name]));
    const lent = reference.names.filter((named) => own.get(textOf(named)) !== named.name);
    expect(lent.filter(({ signatures }) => signatures === undefined)).toEqual([]);
  });

  test('of an option states its default', () => {
    const options = documented(reference.names).filter(
      ({ path, named }) => named.flags?.isOptional && /^\w*(Options|CodeRequest)\./.test(path),
    );
    expect(options.length).toBeGreaterThan(12);
    expect(options.filter(({ text }) => !/\bDefault: \S/.test(text))).toEqual([]);
  });

  test('of a number states its unit', () => {
    const numbers = documented(reference.names).filter(
      ({ named }) => named.type?.name === 'number',
    );
    expect(numbers.length).toBeGreaterThan(5);
    const unit = /\b(milliseconds|seconds|how often|how many|number of|HTTP status)\b/i;
    expect(numbers.filter(({ text }) => !unit.test(text))).toEqual([]);
  });

  test('of a function has an example and describes every parameter and the result', () => {
    expect(calls().length).toBeGreaterThan(6);
    for (const { path, named } of calls()) {
      for (const parameter of named.parameters ?? []) {
        expect(textOf(parameter), `${path}: ${parameter.name}`).not.toBe('');
      }
      // The SDK calls these, and the constructors of its errors.
      if (BROUGHT.some((name) => member(name, path)) || /Error\.constructor$/.test(path)) continue;
      const example = blocks(named, '@example')[0]?.content.map(({ text }) => text);
      expect(example?.join(''), path).toMatch(/^```ts\n/);
      const { name, typeArguments = [] } = named.type ?? {};
      const returnsNothing = [name, ...typeArguments.map((of) => of.name)].includes('void');
      if (path.endsWith('.constructor') || returnsNothing) continue;
      expect(blocks(named, '@returns'), path).toHaveLength(1);
    }
  });
});

/** The errors that a text links to. */
const linked = (pieces: readonly { kind: string; text: string }[]) =>
  pieces.filter(({ kind }) => kind === 'inline-tag').map(({ text }) => text);

test.each<[string, OperationName]>([
  ['convert', 'grants.convert'],
  ['revoke', 'grants.revoke'],
  ['recover', 'grants.recover'],
  ['account', 'account.get'],
  ['grant', 'account.grant'],
  ['revokeToken', 'grants.revokeToken'],
  ['introspect', 'grants.introspect'],
])('%s lists the errors that it rejects with', (method, operation) => {
  const [ofAll] = documented(reference.names).filter(({ path }) => path === 'Latchkey');
  const [ofOne] = calls().filter(({ path }) => path === `Latchkey.${method}`);
  const throws = linked(blocks(ofOne?.named as Named, '@throws').flatMap(({ content }) => content));
  const { errors, method: verb } = operations[operation];
  // Introspection is a POST to keep the token out of the URL, and changes nothing.
  const isRead = verb === 'GET' || operation === 'grants.introspect';
  const codes = [...errors, ...(isRead ? [] : (['outcome_unknown'] as const))];
  const classOf = (error_code: ErrorCode) =>
    errorClass({ error_code, status: errorTable[error_code].status, grant_id: 'its id' }).name;
  const classes = codes.map(classOf);
  expect(throws).toEqual(expect.arrayContaining([...classes, 'LatchkeyError']));

  // What every operation can answer, and what the client has by itself, stands once, at the class.
  const common = ['credentials_invalid', 'application_disabled', 'parameter_invalid'] as const;
  const temporary = ['rate_limited', 'store_unavailable', 'internal_error'] as const;
  expect(linked(ofAll?.named.comment?.summary ?? [])).toEqual(
    expect.arrayContaining([
      ...[...common, ...temporary].map(classOf),
      ...['LatchkeyConfigError', 'ConnectionError', 'TimeoutError', 'UnexpectedResponseError'],
    ]),
  );
});
