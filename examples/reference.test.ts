import * as client from '@latchkey/client';
import * as guards from '@latchkey/client/guards';
import * as testing from '@latchkey/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { INSTALL_TIMEOUT_MS } from '../apps/server/test/tools-from-lockfile.ts';
import { errorClass } from '../packages/client/src/error-classes.ts';
import { type OperationName, operations } from '../packages/schema/src/index.ts';
import { APPLICATION } from './test/application.ts';
import { codeBlocks } from './test/markdown.ts';
import { makeReference, type Named, pages, type Reference } from './test/reference/reference.ts';
import { typeCheck } from './test/type-check.ts';

let reference: Reference;
beforeAll(async () => {
  reference = await makeReference();
}, INSTALL_TIMEOUT_MS);

test.each(pages)('docs/reference/%s.md is made of the docstrings', async (page) => {
  // `npm test -- examples/reference.test.ts -u` writes it anew.
  await expect(reference.pages[page]).toMatchFileSnapshot(`../docs/reference/${page}.md`);
});

test('their examples compile, each as it stands', () => {
  const blocks = pages.map((page) => codeBlocks(reference.pages[page]));
  for (const ofPage of blocks) expect(ofPage.length).toBeGreaterThan(5);
  const programs = blocks.flat().filter(({ language }) => language === 'ts');
  const files = programs.map(({ code }) => {
    const imports = code.match(/^import .*$/gm) ?? [];
    const statements = code.replaceAll(/^import .*$|^export /gm, '');
    const program = `${APPLICATION}export async function example() {\n${statements}\n}`;
    return [...imports, program].join('\n');
  });
  expect(typeCheck(...files)).toEqual([]);
});

/** A name that has a docstring of its own: what is called has it on its signature. */
interface Documented {
  path: string;
  named: Named;
  text: string;
}

const textOf = ({ comment }: Named) => (comment?.summary ?? []).map(({ text }) => text).join('');
const blocks = ({ comment }: Named, tag: string) =>
  (comment?.blockTags ?? []).filter((block) => block.tag === tag);

/** Every exported name, and every member of one. */
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

/** What has one value says with its type all there is to say: `object: 'oauth_grant'`. */
const hasOneValue = ({ type }: Named) => type?.type === 'literal';

const member = (of: string, path: string) => path.startsWith(`${of}.`);

/** What applications bring, and what of frameworks and of theirs is called by us. */
const BROUGHT = ['Logger', 'GrantReader', 'ExpressResponse', 'FastifyReply', 'HonoContext'];
const calls = () =>
  documented(reference.names).filter(
    ({ named, path }) => named.variant === 'signature' && !path.startsWith('Fetch'),
  );

describe('a docstring', () => {
  test('of its own stands at every name, with a sentence', () => {
    expect(reference.names.map(({ name }) => name)).toEqual(
      expect.arrayContaining(Object.keys({ ...client, ...guards, ...testing })),
    );
    const without = documented(reference.names)
      .filter(({ named, text }) => !hasOneValue(named) && !/^\S+ .*\S[.:]?$/s.test(text))
      .map(({ path }) => path);
    expect(without).toEqual([]);

    // TypeDoc lends a class without one that of the class that it extends.
    const own = new Map(reference.names.map((named) => [textOf(named), named.name]));
    const lent = reference.names.filter((named) => own.get(textOf(named)) !== named.name);
    expect(lent.filter(({ signatures }) => signatures === undefined)).toEqual([]);
  });

  test('of an option gives its default', () => {
    const options = documented(reference.names).filter(
      ({ path, named }) =>
        named.flags?.isOptional &&
        ['LatchkeyOptions', 'CallOptions', 'ConvertOptions', 'GuardOptions', 'CodeRequest'].some(
          (name) => member(name, path),
        ),
    );
    expect(options.length).toBeGreaterThan(12);
    expect(options.filter(({ text }) => !/\bDefault: \S/.test(text))).toEqual([]);
  });

  test('of a number gives its unit', () => {
    const numbers = documented(reference.names).filter(
      ({ named }) => named.type?.name === 'number',
    );
    expect(numbers.length).toBeGreaterThan(5);
    const unit = /\b(milliseconds|seconds|how often|HTTP status)\b/i;
    expect(numbers.filter(({ text }) => !unit.test(text))).toEqual([]);
  });

  test('of what is called has an example, and tells of every parameter and the result', () => {
    expect(calls().length).toBeGreaterThan(6);
    for (const { path, named } of calls()) {
      for (const parameter of named.parameters ?? []) {
        expect(textOf(parameter), `${path}: ${parameter.name}`).not.toBe('');
      }
      // These are called by the SDK, and so are the constructors of its errors.
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
])('%s lists the errors that it rejects with', (method, operation) => {
  const [ofAll] = documented(reference.names).filter(({ path }) => path === 'Latchkey');
  const [ofOne] = calls().filter(({ path }) => path === `Latchkey.${method}`);
  const throws = linked(blocks(ofOne?.named as Named, '@throws').flatMap(({ content }) => content));
  const { errors, method: verb } = operations[operation];
  const codes = [...errors, ...(verb === 'GET' ? [] : (['outcome_unknown'] as const))];
  const classes = codes.map(
    (errorCode) => errorClass({ errorCode, status: 400, grant_id: 'its id' }).name,
  );
  expect(throws).toEqual(expect.arrayContaining([...classes, 'LatchkeyError']));

  // What every operation can answer, and what the client has by itself, stands once, at the class.
  const common = ['credentials_invalid', 'parameter_invalid', 'rate_limited', 'internal_error'];
  expect(linked(ofAll?.named.comment?.summary ?? [])).toEqual(
    expect.arrayContaining([
      ...[...common, 'store_unavailable'].map((errorCode) => errorClass({ errorCode }).name),
      ...['LatchkeyConfigError', 'ConnectionError', 'TimeoutError', 'UnexpectedResponseError'],
    ]),
  );
});
