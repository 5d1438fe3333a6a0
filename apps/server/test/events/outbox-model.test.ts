import { slow } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { explore, type Mistake, mistakes, type Promised } from './outbox-model.ts';

const options = { timeout: 600_000 };

// Every state is looked at before it is known that one cannot come to rest.
const long: Mistake = 'a claim never ends';

test('an event is told in every order of the steps, with a kill at each of them', {
  ...options,
  ...slow,
}, () => {
  const { states, broken } = explore();
  process.stderr.write(`the way of an event: ${states} states\n`);
  expect(broken).toBeNull();
});

const cases = Object.entries(mistakes) as [Mistake, Promised][];
const title = 'it is seen that %s: the model breaks "%s"';
test.each(cases.filter(([mistake]) => mistake !== long))(title, options, isSeen);
test.each(cases.filter(([mistake]) => mistake === long))(title, { ...options, ...slow }, isSeen);

function isSeen(mistake: Mistake, promise: Promised): void {
  expect(explore(mistake).broken?.promise).toBe(promise);
}
