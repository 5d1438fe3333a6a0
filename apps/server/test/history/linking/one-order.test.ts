import { describe, expect, test } from 'vitest';
import type { LinkAnswer, LinkCall, LinkOperation } from './calls.ts';
import { describeContradiction, findContradictions } from './one-order.ts';

// A history is written as it is read: who did what, from when to when, and what came of it.

type Extra = Partial<Omit<LinkCall, 'answer'>> & { answer?: LinkAnswer };
type Time = [start: number, end: number | null];

const shared: LinkOperation[] = ['disconnect', 'end pages', 'disable', 'enable'];

function call(
  operation: LinkOperation,
  id: string,
  [start, end]: Time,
  extra: Extra = {},
): LinkCall {
  const { answer = {}, ...rest } = extra;
  return {
    ...{ id, operation, scene: '1', link: shared.includes(operation) ? null : 'l', server: 'A' },
    ...{ start, end, answer: end === null ? null : answer, ...rest },
  };
}
const make =
  (operation: LinkOperation, more: Extra = {}) =>
  (id: string, time: Time, extra: Extra = {}) =>
    call(operation, id, time, { ...more, ...extra });
const error = (error_code: string): Extra => ({ answer: { error_code } });

const begin = make('authorize')('begin', [0, 1]);
const ada: Extra = { account: 'ada' };
const identify = make('identify', ada);
const open = make('open', { page: 'i' });
const show = make('show', { page: 'i', session: 'o' });
const allow = make('approve', { page: 'i', session: 'o', answer: { code: 'c' } });
const approve = make('approve', { ...ada, answer: { code: 'c' } });
const deny = make('deny');
const token = make('token', { credential: 'c' });
const use = make('use', { credential: 't' });
const disconnect = make('disconnect', ada);
const endPages = make('end pages', ada);
const disable = make('disable');
const enable = make('enable');

const decided = error('link_decided');
const unknown = error('link_not_found');
const expired = error('page_expired');
const noCode = error('code_not_found');
const used = error('code_already_used');
const invalid = error('credentials_invalid');
const paused = error('application_disabled');
const unavailable = error('store_unavailable');
const uncertain = error('outcome_unknown');

interface Case {
  title: string;
  /** Can't have been told, because of the call `misfit`. */
  broken: LinkCall[];
  misfit: string;
  /** All but the same, and possible. */
  kept: LinkCall[];
}

const opened = [identify('i', [2, 3]), open('o', [4, 5])];
const redeemed = [approve('a', [2, 3]), token('t', [4, 5])];

const cases: Case[] = [
  {
    title: 'a code survives the end of its connection',
    broken: [approve('a', [2, 3]), disconnect('d', [4, 5]), token('t', [6, 7])],
    misfit: 't',
    kept: [approve('a', [2, 3]), disconnect('d', [4, 6]), token('t', [5, 7])],
  },
  {
    title: 'so does a code whose approval was still under way',
    broken: [approve('a', [2, 5]), disconnect('d', [6, 7]), token('t', [8, 9])],
    misfit: 't',
    kept: [approve('a', [2, 5]), disconnect('d', [4, 7]), token('t', [8, 9])],
  },
  {
    title: 'a code ends with the connection of somebody else',
    broken: [
      approve('a', [2, 3]),
      disconnect('d', [4, 5], { account: 'grace' }),
      token('t', [6, 7], noCode),
    ],
    misfit: 't',
    kept: [approve('a', [2, 3]), disconnect('d', [4, 5], uncertain), token('t', [6, 7], noCode)],
  },
  {
    title: 'a grant survives the end of its connection',
    broken: [...redeemed, disconnect('d', [6, 7]), use('u', [8, 9])],
    misfit: 'u',
    kept: [...redeemed, disconnect('d', [6, null]), use('u', [8, 9]), use('v', [10, 11], invalid)],
  },
  {
    title: 'a grant that ended comes back',
    broken: [
      ...redeemed,
      disconnect('d', [6, null]),
      use('u', [8, 9], invalid),
      use('v', [10, 11]),
    ],
    misfit: 'v',
    kept: [...redeemed, disconnect('d', [6, null]), use('u', [8, 10], invalid), use('v', [9, 11])],
  },
  {
    title: 'enabling revives a link',
    broken: [disable('d', [2, 3]), enable('e', [4, 5]), approve('a', [6, 7])],
    misfit: 'a',
    kept: [disable('d', [2, 3]), enable('e', [4, 5]), approve('a', [6, 7], unknown)],
  },
  {
    title: 'enabling revives a page',
    broken: [...opened, disable('d', [6, 7]), enable('e', [8, 9]), show('s', [10, 11])],
    misfit: 's',
    kept: [...opened, disable('d', [6, 7], unavailable), enable('e', [8, 9]), show('s', [10, 11])],
  },
  {
    title: 'enabling revives a code',
    broken: [approve('a', [2, 3]), disable('d', [4, 5]), enable('e', [6, 7]), token('t', [8, 9])],
    misfit: 't',
    kept: [approve('a', [2, 3]), disable('d', [4, 8]), enable('e', [9, 10]), token('t', [5, 9])],
  },
  {
    title: 'a grant does not survive a pause of its application',
    broken: [...redeemed, disable('d', [6, 7]), enable('e', [8, 9]), use('u', [10, 11], invalid)],
    misfit: 'u',
    kept: [
      ...redeemed,
      disable('d', [6, 7]),
      use('u', [8, 9], paused),
      enable('e', [10, 11]),
      use('v', [12, 13]),
    ],
  },
  {
    title: 'an application is disabled, and works',
    broken: [...redeemed, disable('d', [6, 7]), use('u', [8, 9])],
    misfit: 'u',
    kept: [...redeemed, disable('d', [6, 8]), use('u', [7, 9])],
  },
  {
    title: 'a link is begun at a disabled application',
    broken: [disable('d', [-4, -3])],
    misfit: 'begin',
    kept: [disable('d', [-4, -3]), enable('e', [-2, 0.5])],
  },
  {
    title: 'a page is shown after the sign-out of its account',
    broken: [...opened, endPages('e', [6, 7]), show('s', [8, 9])],
    misfit: 's',
    kept: [...opened, endPages('e', [6, 8]), show('s', [7, 9])],
  },
  {
    title: 'a page decides after the sign-out of its account',
    broken: [...opened, endPages('e', [6, 7]), allow('a', [8, 9])],
    misfit: 'a',
    kept: [...opened, endPages('e', [6, 7], { account: 'grace' }), allow('a', [8, 9])],
  },
  {
    title: 'a ticket is good after the sign-out of its account',
    broken: [identify('i', [2, 3]), endPages('e', [4, 5]), open('o', [6, 7])],
    misfit: 'o',
    kept: [endPages('e', [2, 3]), identify('i', [4, 5]), open('o', [6, 7])],
  },
  {
    title: 'a page that was made after a sign-out does not work',
    broken: [endPages('e', [2, 3]), identify('i', [4, 5]), open('o', [6, 7], expired)],
    misfit: 'o',
    kept: [endPages('e', [2, 5]), identify('i', [4, 6]), open('o', [7, 8], expired)],
  },
  {
    title: 'a ticket opens after its session came back',
    broken: [...opened, show('s', [6, 7]), open('p', [8, 9])],
    misfit: 'p',
    kept: [...opened, open('p', [6, 7]), show('s', [8, 9])],
  },
  {
    title: 'two sessions have one page',
    broken: [...opened, open('p', [5, 6]), show('s', [7, 8]), show('t', [9, 10], { session: 'p' })],
    misfit: 't',
    kept: [
      ...[...opened, open('p', [5, 6]), show('s', [7, 8])],
      show('t', [9, 10], { session: 'p', ...expired }),
    ],
  },
  {
    title: 'an earlier page still works',
    broken: [...opened, identify('j', [6, 7]), show('s', [8, 9])],
    misfit: 's',
    kept: [...opened, identify('j', [6, 8]), show('s', [7, 9])],
  },
  {
    title: 'an earlier page works where the host has one of its own',
    broken: [...opened, identify('j', [6, 7], { own_page: true }), allow('a', [8, 9])],
    misfit: 'a',
    kept: [...opened, identify('j', [6, 7], { own_page: true }), allow('a', [8, 9], expired)],
  },
  {
    title: 'an approval and a denial are both told',
    broken: [approve('a', [2, 8]), deny('b', [3, 9])],
    misfit: 'a',
    kept: [approve('a', [2, 8]), deny('b', [3, 9], decided)],
  },
  {
    title: 'the page and the host both decide',
    broken: [...opened, allow('a', [6, 8]), approve('b', [7, 9], { answer: { code: 'd' } })],
    misfit: 'a',
    kept: [...opened, allow('a', [6, 8]), approve('b', [7, 9], decided)],
  },
  {
    title: 'a decision changes',
    broken: [deny('a', [2, 3]), approve('b', [4, 5])],
    misfit: 'b',
    kept: [deny('a', [2, null]), approve('b', [4, 5])],
  },
  {
    title: 'a repeated approval has another code',
    broken: [approve('a', [2, 3]), approve('b', [4, 5], { answer: { code: 'd' } })],
    misfit: 'b',
    kept: [approve('a', [2, 3]), approve('b', [4, 5])],
  },
  {
    title: 'a repeated approval is refused while its code is pending',
    broken: [approve('a', [2, 3]), approve('b', [4, 5], decided)],
    misfit: 'b',
    kept: [...redeemed, approve('b', [6, 7], decided), deny('c', [8, 9], decided)],
  },
  {
    title: 'another account than the identified one is approved',
    broken: [identify('i', [2, 3]), approve('a', [4, 5], { account: 'grace' })],
    misfit: 'a',
    kept: [identify('i', [2, null]), approve('a', [4, 5], { account: 'grace' })],
  },
  {
    title: 'the identified account is refused as another one',
    broken: [identify('i', [2, 3]), approve('a', [4, 5], error('account_changed'))],
    misfit: 'a',
    kept: [
      identify('i', [2, 3]),
      approve('a', [4, 5], { account: 'grace', ...error('account_changed') }),
    ],
  },
  {
    title: 'a code of a denied link is told, and works',
    broken: [deny('a', [2, 9]), approve('b', [3, 8]), token('t', [10, 11])],
    misfit: 'b',
    kept: [deny('a', [2, 9], uncertain), approve('b', [3, 8]), token('t', [10, 11])],
  },
  {
    title: 'a code becomes two grants',
    broken: [...redeemed, token('s', [6, 7])],
    misfit: 's',
    kept: [approve('a', [2, 3]), token('t', [4, null]), token('s', [6, 7])],
  },
  {
    title: 'a code is used, and nobody can have used it',
    broken: [approve('a', [2, 3]), token('s', [4, 5], unavailable), token('t', [6, 7], used)],
    misfit: 't',
    kept: [approve('a', [2, 3]), token('s', [4, 5], uncertain), token('t', [6, 7], used)],
  },
  {
    title: 'a redeemed code is used, and its grant has ended before the answer',
    broken: [approve('a', [2, 3]), token('t', [4, 5], used), disconnect('d', [6, 7])],
    misfit: 't',
    kept: [approve('a', [2, 3]), token('t', [4, 7], used), disconnect('d', [5, 6])],
  },
  {
    title: 'what nobody decided is told to be decided',
    broken: [approve('a', [2, 3], unavailable), identify('i', [4, 5], decided)],
    misfit: 'i',
    kept: [approve('a', [2, null]), identify('i', [4, 5], decided)],
  },
  {
    title: 'an error that the contract does not have',
    broken: [approve('a', [2, 3], error('internal_error'))],
    misfit: 'a',
    kept: [approve('a', [2, 3], unavailable)],
  },
];

describe('a contradiction is seen, and not where there is just none:', () => {
  test.each(cases)('$title', ({ broken, misfit, kept }) => {
    expect(findContradictions([begin, ...broken]).map(({ call: { id } }) => id)).toEqual([misfit]);
    expect(findContradictions([begin, ...kept])).toEqual([]);
  });
});

test('scenes and links have nothing to do with each other', () => {
  const elsewhere = { scene: '2', link: 'm' };
  const other = [make('authorize')('x', [0, 1], elsewhere), approve('y', [6, 7], elsewhere)];
  expect(findContradictions([begin, ...other, disable('d', [2, 3])])).toEqual([]);
});

test('many calls without an answer are looked through', () => {
  const lost = Array.from({ length: 6 }, (_, index) => [
    identify(`i${index}`, [2, null]),
    endPages(`e${index}`, [2, null]),
    deny(`d${index}`, [2, null], { page: `i${index}` }),
  ]).flat();
  expect(findContradictions([begin, ...lost, approve('a', [3, 4]), token('t', [5, 6])])).toEqual(
    [],
  );
  const denied = [approve('a', [3, 4]), deny('b', [5, 6])];
  expect(findContradictions([begin, ...lost, ...denied]).length).toBe(1);
});

test('what has expired contradicts nothing, and nothing expires earlier', () => {
  const tooLate = (end: number) => token('t', [5, end], error('code_expired'));
  const story = [begin, approve('a', [3, 4])];
  expect(findContradictions([...story, tooLate(300e9)])).toEqual([]);
  expect(findContradictions([...story, tooLate(299e9)]).length).toBe(1);
  // It may have been done in time.
  const late = [token('t', [5, 301e9]), use('u', [302e9, 303e9], invalid)];
  expect(findContradictions([...story, ...late])).toEqual([]);
  expect(findContradictions([...story, ...late, token('s', [6, 7], used)])).toEqual([]);
});

test('a contradiction reads as a story', () => {
  const story = [
    approve('1/2', [2e6, 3e6]),
    disconnect('1/3', [4e6, 5.5e6]),
    token('1/4', [6e6, 7e6]),
  ];
  const text = findContradictions([begin, ...story.reverse()])
    .map(describeContradiction)
    .join('\n');
  expect(text).toBe(
    [
      'What was told about the link l is true in no order: 1/4 fits nowhere.',
      '  begin    0.000 to 0.000 ms          A  authorize l: done',
      '  1/2      2.000 to 3.000 ms          A  approve l ada: done, c',
      '  1/3      4.000 to 5.500 ms          A  disconnect ada: done',
      '  1/4      6.000 to 7.000 ms          A  token l with c: done',
    ].join('\n'),
  );
});
