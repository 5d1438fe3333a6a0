import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formMembers, parseForm } from './form.ts';

const parse = (text: string) => Object.fromEntries(parseForm(Buffer.from(text)));

const code = (error_code: string) => expect.objectContaining({ code: error_code });

describe('a form', () => {
  test('is read as a URLSearchParams writes it', () => {
    const pairs = fc.array(
      fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme', minLength: 1 })),
    );
    fc.assert(
      fc.property(pairs, (written) => {
        const form = parseForm(Buffer.from(new URLSearchParams(written).toString()));
        for (const [name] of written) {
          const values = written.filter(([other]) => other === name).map(([, value]) => value);
          expect(form.get(name)).toEqual(values);
        }
      }),
    );
  });

  test.each([
    ['', {}],
    ['&&', {}],
    ['a=1+2%2B&b=%C3%BC', { a: ['1 2+'], b: ['ü'] }],
    ['a=b=c', { a: ['b=c'] }],
    ['a=ü', { a: ['ü'] }],
    ['__proto__=x', Object.fromEntries([['__proto__', ['x']]])],
  ])('%s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });

  test('a parameter without a value counts as left out', () => {
    expect(parse('a&b=&a=1')).toEqual({ a: ['1'] });
  });

  test.each(['%', '%=', 'a=%', 'a=%4', 'a=%zz', 'a=%ff', 'a=%C3', '%=1', 'a=%ED%A0%80'])(
    '%s is not percent-encoded UTF-8',
    (text) => {
      expect(() => parse(text)).toThrow(code('body_malformed'));
    },
  );

  test('is UTF-8', () => {
    expect(() => parseForm(Buffer.from('a=\xff', 'latin1'))).toThrow(code('body_malformed'));
  });
});

describe('the members of a form', () => {
  const form = (text: string) => parseForm(Buffer.from(text));

  test('are those that are known, and given', () => {
    expect(formMembers(form('a=1&c=3'), ['a', 'b'])).toEqual({ a: '1' });
  });

  test('are given only once, unless nobody knows them', () => {
    expect(() => formMembers(form('a=1&a=1'), ['a'])).toThrow(
      expect.objectContaining({
        code: 'parameter_invalid',
        members: { issues: [{ path: ['a'], message: 'Must be given only once.' }] },
      }),
    );
    expect(formMembers(form('a=1&b=1&b=2'), ['a'])).toEqual({ a: '1' });
  });
});
