import { describe, expect, it } from 'vitest';
import * as inputs from './inputs.ts';

const id = '0193aa00-0000-7000-8000-000000000001';
const ID = id.toUpperCase();
const refuses = (schema: (typeof inputs)[keyof typeof inputs], input: unknown) =>
  schema.safeParse(input).error?.issues.map(({ path }) => path.join('.'));

it('ignores unknown members of applications', () => {
  expect(inputs.codeInput.parse({ code: 'x', more: 1 })).toEqual({ code: 'x' });
  expect(inputs.noInput.parse({ more: 1 })).toEqual({});
});

it.each([
  ['redirect_uri', 'redirect_uris was probably meant.'],
  ['redirectUris', 'redirect_uris was probably meant.'],
  ['logo', 'logo_uri was probably meant.'],
  ['__proto__', 'The members are name, redirect_uris,'],
])('refuses the unknown member %s of an operator, and says which was meant', (member, meant) => {
  const input = JSON.parse(`{"name":"Acme","${member}":[]}`);
  const { error } = inputs.applicationInput.safeParse(input);
  expect(error?.issues).toEqual([
    expect.objectContaining({ message: expect.stringContaining(meant) }),
  ]);
});

it('refuses unknown members of a text in another language', () => {
  const input = { scope: 'read', title: 'Read', texts: { de: { title: 'Lesen', titel: '' } } };
  expect(inputs.scopeInput.safeParse(input).error?.issues).toEqual([
    expect.objectContaining({
      path: ['texts', 'de'],
      message: 'There is no such member. title was probably meant.',
    }),
  ]);
});

it('counts the unknown members besides the first', () => {
  const { error } = inputs.emptyInput.safeParse({ a: 1, b: 2, c: 3 });
  expect(error?.issues.map(({ message }) => message)).toEqual([
    'There is no such member. The members are none. Unknown members besides: 2.',
  ]);
});

it('takes any code but an empty one', () => {
  expect(inputs.codeInput.parse({ code: ' ' })).toEqual({ code: ' ' });
  for (const code of ['', null, 7, undefined]) {
    expect(refuses(inputs.codeInput, { code })).toEqual(['code']);
  }
});

it('repeats no value in an issue, and uses only the characters that OAuth allows', () => {
  const secret = 'hunter2-hunter2';
  for (const schema of Object.values(inputs)) {
    for (const value of [secret, [secret], { secret }]) {
      const members = Object.keys((schema as typeof inputs.accountInput).shape);
      const input = Object.fromEntries(members.map((member) => [member, value]));
      const { error } = schema.safeParse(input);
      for (const { message } of error?.issues ?? []) {
        expect(message).not.toContain('hunter2');
        // They become part of an error_description: RFC 6749, section 5.2.
        expect(message).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
      }
    }
  }
});

it('has the defaults of an account', () => {
  expect(inputs.accountInput.parse({ account_id: ID, username: 'ada' })).toEqual({
    account_id: id,
    username: 'ada',
    twitter: null,
    verified: false,
    supporter: false,
    external_id: null,
  });
});

describe('a list', () => {
  it('has 1 to 100 entries on a page, 50 by default', () => {
    expect(inputs.listInput.parse({})).toEqual({ limit: 50 });
    expect(inputs.listInput.parse({ limit: 1 })).toEqual({ limit: 1 });
    expect(inputs.listInput.parse({ limit: 100 })).toEqual({ limit: 100 });
    for (const limit of [0, 101, 1.5, '7', Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refuses(inputs.listInput, { limit })).toEqual(['limit']);
    }
  });

  it('starts at a cursor of 16 bytes in canonical base64url', () => {
    for (const last of 'AQgw') {
      const cursor = 'AZOqAAAAcACAAAAAAAAAA'.padEnd(21, '-') + last;
      expect(inputs.listInput.parse({ cursor })).toEqual({ limit: 50, cursor });
    }
    for (const cursor of [
      '',
      id,
      'A'.repeat(21),
      'A'.repeat(23),
      `${'A'.repeat(21)}B`,
      `${'A'.repeat(20)}+A`,
    ]) {
      expect(refuses(inputs.listInput, { cursor })).toEqual(['cursor']);
    }
  });
});

describe('a list of grants', () => {
  it('takes exactly one of its filters', () => {
    expect(inputs.grantListInput.parse({ account_id: ID })).toEqual({ account_id: id, limit: 50 });
    expect(inputs.grantListInput.parse({ application_id: id })).toEqual({
      application_id: id,
      limit: 50,
    });
    const both = { username: 'ada', external_id: 'a-1' };
    expect(refuses(inputs.accountListInput, both)).toEqual(['']);
    expect(refuses(inputs.grantListInput, {})).toEqual(['']);
    expect(refuses(inputs.grantListInput, { account_id: id, application_id: id })).toEqual(['']);
  });
});
