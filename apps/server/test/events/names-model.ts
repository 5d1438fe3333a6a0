// Who is told the names of an account, step by step, small enough to look at every order of the steps.
//
// An application has a grant of the account. The account changes, it disconnects the application, and it links again,
// each at any time or never. Two processes make deliveries and try the one of the change. At every step, each of them
// may be killed, stall until its claim is over, or go on. What an end leaves behind is told by its mark.

import { type Exploration, exploreFrom, type Step as StepTo } from './explore.ts';

const PROCESSES = [0, 1] as const;

type Process = (typeof PROCESSES)[number];

type Doing =
  | { kind: 'making'; step: 'connected' | 'insert' | 'write' | 'unmark' }
  | { kind: 'ending'; step: 'ask' | 'forget' | 'unmark'; isOfClaim: boolean }
  | { kind: 'trying'; step: 'ask' | 'look again' | 'forget' | 'write' | 'send' | 'sent' };

interface Delivery {
  status: 'none' | 'pending' | 'delivered' | 'dropped';
  hasBody: boolean;
  claim: Process | null;
}

interface State {
  grant: 'first' | 'none' | 'second';
  /** The grant that was there when the account changed. */
  changedAt: 'first' | 'none' | 'second' | null;
  isChangeMarked: boolean;
  isEndMarked: boolean;
  delivery: Delivery;
  /** Whether the delivery was there when the first grant ended: a later link does not bring it back. */
  isOver: boolean;
  /** Whether a try began of what is over. */
  isTold: boolean;
  processes: readonly (Doing | null)[];
}

/** Mistakes, each of which breaks one of the {@link Promised}. */
export const mistakes = {
  'a claim does not ask': 'not told after the end',
  'a claim asks for any grant': 'not told after the end',
  'a claim does not tell first what has ended': 'not told after the end',
  'an end takes nothing back': 'not told after the end',
  'the mark of an end is taken off first': 'not told after the end',
  'a message is written whatever became of its delivery': 'no names stay',
} as const satisfies Record<string, Promised>;

export type Mistake = keyof typeof mistakes;

type Promised = 'not told after the end' | 'no names stay' | 'told' | 'comes to rest';

const start: State = {
  ...{ grant: 'first', changedAt: null, isChangeMarked: false, isEndMarked: false },
  delivery: { status: 'none', hasBody: false, claim: null },
  ...{ isOver: false, isTold: false, processes: [null, null] },
};

type Step = StepTo<State>;

const doing = (state: State, process: Process, what: Doing | null): State => ({
  ...state,
  processes: state.processes.map((one, at) => (at === process ? what : one)),
});
const having = (state: State, delivery: Partial<Delivery>): State => ({
  ...state,
  delivery: { ...state.delivery, ...delivery },
});
/** Drops what is pending, and takes the message away. */
const forgotten = (state: State): State =>
  state.delivery.status === 'none'
    ? state
    : having(state, {
        hasBody: false,
        ...(state.delivery.status === 'pending' && { status: 'dropped', claim: null }),
      });

function stepsFrom(state: State, mistake: Mistake | null): Step[] {
  const { grant, changedAt, delivery } = state;
  return [
    ...(changedAt === null
      ? [['the account changes', { ...state, changedAt: grant, isChangeMarked: true }] as const]
      : []),
    ...(grant === 'first'
      ? [
          [
            'the account disconnects',
            { ...state, grant: 'none', isEndMarked: true, isOver: delivery.status !== 'none' },
          ] as const,
        ]
      : []),
    ...(grant === 'none'
      ? [['the account links again', { ...state, grant: 'second' }] as const]
      : []),
    ...(delivery.claim === null
      ? []
      : [['the claim is over', having(state, { claim: null })] as const]),
    ...PROCESSES.flatMap((process): Step[] => {
      const what = state.processes[process] ?? null;
      const steps =
        what === null
          ? beginnings(state, process, mistake)
          : [
              ['is killed', doing(state, process, null)] as const,
              goOn(state, process, what, mistake),
            ];
      return steps.map(([name, next]) => [`process ${process} ${name}`, next]);
    }),
  ];
}

function beginnings(state: State, process: Process, mistake: Mistake | null): Step[] {
  const begin = (what: Doing, from = state) => doing(from, process, what);
  const { status, claim } = state.delivery;
  const step = mistake === 'the mark of an end is taken off first' ? 'unmark' : 'ask';
  return [
    ...(state.isChangeMarked
      ? [['reads the mark of the change', begin({ kind: 'making', step: 'connected' })] as const]
      : []),
    ...(state.isEndMarked
      ? [['reads the mark of the end', begin({ kind: 'ending', step, isOfClaim: false })] as const]
      : []),
    ...(status === 'pending' && claim === null
      ? [
          [
            'claims the delivery',
            begin({ kind: 'trying', step: 'ask' }, having(state, { claim: process })),
          ] as const,
        ]
      : []),
  ];
}

function goOn(state: State, process: Process, what: Doing, mistake: Mistake | null): Step {
  const { grant, changedAt, delivery } = state;
  const end = (from = state) => doing(from, process, null);
  const next = (changed: Doing, from = state) => doing(from, process, changed);
  const isThere = grant !== 'none';
  if (what.kind === 'making') {
    const go = (step: typeof what.step, from = state) => next({ kind: 'making', step }, from);
    switch (what.step) {
      case 'connected':
        return ['looks for grants', go(isThere ? 'insert' : 'unmark')];
      case 'insert': {
        const inserted = having(state, { status: 'pending' });
        const isNew = delivery.status === 'none';
        return ['inserts the delivery', go('write', isNew ? inserted : state)];
      }
      case 'write': {
        const isOpen =
          (delivery.status === 'pending' && delivery.claim === null) ||
          mistake === 'a message is written whatever became of its delivery';
        return [
          'writes the message',
          go('unmark', isOpen ? having(state, { hasBody: true }) : state),
        ];
      }
      case 'unmark':
        return ['takes the mark of the change off', end({ ...state, isChangeMarked: false })];
    }
  }
  if (what.kind === 'ending') {
    const { isOfClaim } = what;
    const go = (step: typeof what.step, from = state) =>
      next({ kind: 'ending', step, isOfClaim }, from);
    const isFirst = mistake === 'the mark of an end is taken off first';
    const done = (from = state) =>
      isOfClaim ? next({ kind: 'trying', step: 'look again' }, from) : end(from);
    switch (what.step) {
      case 'ask':
        // The second grant is newer than the end.
        return ['asks for older grants', go(grant === 'first' ? 'unmark' : 'forget')];
      case 'forget': {
        const isNewer = changedAt === 'second' || mistake === 'an end takes nothing back';
        const after = isNewer ? state : forgotten(state);
        return ['takes the names back', isFirst ? done(after) : go('unmark', after)];
      }
      case 'unmark': {
        const after = { ...state, isEndMarked: false };
        return ['takes the mark of the end off', isFirst ? go('ask', after) : done(after)];
      }
    }
  }
  const go = (step: typeof what.step, from = state) => next({ kind: 'trying', step }, from);
  const isHeld = delivery.status === 'pending' && delivery.claim === process;
  switch (what.step) {
    case 'ask': {
      if (mistake === 'a claim does not ask') return ['asks nobody', go('write')];
      if (grant === 'none') return ['finds no grant', go('forget')];
      const isOlder = grant === changedAt || mistake === 'a claim asks for any grant';
      if (isOlder) return ['finds a grant', go('write', told(state))];
      if (!state.isEndMarked || mistake === 'a claim does not tell first what has ended') {
        return ['finds a newer grant', go('look again')];
      }
      return [
        'finds a newer grant, and an end',
        next({ kind: 'ending', step: 'ask', isOfClaim: true }),
      ];
    }
    case 'look again':
      if (delivery.status !== 'pending') return ['finds that it was dropped', end()];
      return ['finds it pending', go('write', told(state))];
    case 'forget':
      return ['takes the names back', end(forgotten(state))];
    case 'write': {
      const found = mistake === 'a claim does not ask' ? told(state) : state;
      if (delivery.hasBody) return ['has the message', go('send', found)];
      if (!isHeld) return ['finds its claim lost', end(found)];
      return ['writes the message', go('send', having(found, { hasBody: true }))];
    }
    case 'send':
      return ['sends', go('sent')];
    case 'sent':
      return [
        'writes the end of its try down',
        end(isHeld ? having(state, { status: 'delivered', claim: null }) : state),
      ];
  }
}

/** The answer to the question, from which on it is tried. */
const told = (state: State): State => ({
  ...state,
  isTold: state.isTold || (state.isOver && state.grant !== 'first'),
});

function isAtRest({ isChangeMarked, isEndMarked, delivery, processes }: State): boolean {
  const isIdle = processes.every((what) => what === null);
  return isIdle && !isChangeMarked && !isEndMarked && delivery.status !== 'pending';
}

function brokenIn(state: State): Promised | null {
  if (state.isTold) return 'not told after the end';
  if (!isAtRest(state)) return null;
  const { grant, changedAt, delivery, isOver } = state;
  if (delivery.hasBody && (grant === 'none' || isOver)) return 'no names stay';
  const isDue = grant !== 'none' && changedAt === grant;
  return isDue && delivery.status !== 'delivered' ? 'told' : null;
}

const keyOf = (state: State) => JSON.stringify(state);

/** Looks at every state that any order of the steps leads to. */
export const explore = (mistake: Mistake | null = null): Exploration<Promised> =>
  exploreFrom(start, {
    stepsFrom: (state) => stepsFrom(state, mistake),
    ...{ keyOf, brokenIn, isAtRest },
  });
