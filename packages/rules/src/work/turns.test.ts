import { inRequest } from '@latchkey/domain/request-scope';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

test('of an account there is one turn at a time, in the order in which they were asked for', async () => {
  const { begin } = createTurns();
  const order: string[] = [];
  const turn = async (name: string, account_id = 'ada') => {
    const end = await begin(account_id);
    order.push(`${name} begins`);
    return () => {
      order.push(`${name} ends`);
      end();
    };
  };
  const [first, second, third] = [turn('first'), turn('second'), turn('third')];
  (await turn('other', 'bob'))();
  (await first)();
  (await second)();
  (await third)();
  expect(order).toEqual([
    ...['first begins', 'other begins', 'other ends', 'first ends'],
    ...['second begins', 'second ends', 'third begins', 'third ends'],
  ]);
  // Nothing is left of them.
  (await turn('last'))();
});

test('too many of an account do not wait, and others do', async () => {
  const { begin } = createTurns(1);
  const end = await begin('ada');
  const next = begin('ada');
  await expect(begin('ada')).rejects.toMatchObject({ code: 'rate_limited' });
  (await begin('bob'))();
  end();
  (await next)();
});

test('whoever has no time left for its turn holds up nobody behind it', async () => {
  const { begin } = createTurns();
  const end = await begin('ada');
  const late = inRequest(() => begin('ada'), { endsAt: performance.now() + 1 });
  const tooLate = inRequest(() => begin('ada'), { endsAt: performance.now() + 30 });
  const next = begin('ada');
  await expect(late).rejects.toMatchObject({ code: 'store_unavailable' });
  end();
  // It has its turn, and its time ends before it hears of it.
  const until = performance.now() + 40;
  while (performance.now() < until);
  await tooLate.then(
    (end) => end(),
    () => {},
  );
  (await next)();
});
