import { expect, test } from 'vitest';
import { explore, type Mistake, mistakes } from './names-model.ts';

test('no application is told of an account after the end, in any order of the steps', () => {
  const { broken } = explore();
  expect(broken).toBeNull();
});

test.each(Object.entries(mistakes))(
  'it is seen that %s: the model breaks "%s"',
  (mistake, promise) => {
    expect(explore(mistake as Mistake).broken?.promise).toBe(promise);
  },
);
