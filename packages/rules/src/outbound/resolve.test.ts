import { expect, test } from 'vitest';
import { joined } from './resolve.ts';

test('a name is looked up once at a time, whoever asks, and again afterwards', () => {
  const answers: (() => void)[] = [];
  const resolve = joined((name, _, found) => {
    answers.push(() => found(null, [{ address: `of ${name}, ${answers.length}`, family: 4 }]));
  });
  const found: string[] = [];
  const ask = (name: string) =>
    resolve(name, { all: true }, (_, [one]) => found.push(`${one?.address}`));
  for (const name of ['a', 'b', 'a']) ask(name);
  expect(answers).toHaveLength(2);
  answers[0]?.();
  expect(found).toEqual(['of a, 2', 'of a, 2']);
  ask('a');
  answers[2]?.();
  expect(found).toEqual(['of a, 2', 'of a, 2', 'of a, 3']);
});
