// The way of an event on MongoDB, step by step, small enough to look at every order of the steps.
//
// One grant is created and ends, which are two events. Endpoint 0, of the application, is there from the
// beginning, and is told of the end alone. Endpoint 1, of the host, is created at any time. Two processes make
// deliveries, try them and create the endpoint. At every step, each of them may be killed and start again,
// stall until its claim is over, or go on.

import { type Exploration, exploreFrom, type Step as StepTo } from './explore.ts';

const EVENTS = [0, 1] as const;
const PROCESSES = [0, 1] as const;

type Event = (typeof EVENTS)[number];
type Process = (typeof PROCESSES)[number];
/** Of each event, its place in the list. */
type Flags = readonly [boolean, boolean];

interface Delivery {
  event: Event;
  endpoint: number;
  status: 'none' | 'pending' | 'delivered';
  /** How many there are of the event and the endpoint. */
  copies: number;
  claim: Process | null;
  /** Whether the receiver has accepted it. */
  told: boolean;
}

/** One round of `makeDeliveries`. Of an endpoint that is created, the round before its insertion. */
interface Making {
  kind: 'making';
  step: 'marks' | 'endpoints' | 'again' | 'insert' | 'unmark' | 'create';
  marks: Flags;
  hasNewEndpoint: boolean;
  /** What had been acknowledged when the creation of the endpoint began. Null: none is created. */
  before: Flags | null;
}

interface Trying {
  kind: 'trying';
  step: 'claimed' | 'accepted' | 'refused';
  delivery: number;
  /** Its claim was over while it went on. */
  isStalled: boolean;
}

interface State {
  happened: Flags;
  marks: Flags;
  /** Null until endpoint 1 is there: what had been acknowledged before its creation. */
  before: Flags | null;
  /** What happened once endpoint 1 was there. */
  after: Flags;
  deliveries: readonly Delivery[];
  processes: readonly (Making | Trying | null)[];
}

/** Mistakes, each of which breaks one of the {@link Promised}. */
export const mistakes = {
  'the mark is a write of its own, after the change': 'told',
  'the mark is a write of its own, before the change': 'happened',
  'the mark is taken off before the deliveries are inserted': 'told',
  'marks are taken off that were not read': 'told',
  'the endpoints are read before the marks': 'told to the new endpoint',
  'the marks are not read again after the endpoints': 'not told of what was before',
  'an endpoint is created without telling first what is marked': 'not told of what was before',
  'deliveries have new ids each time': 'one delivery',
  'a claim has no condition': 'one try at once',
  'the end of a try does not ask for its claim': 'one try at once',
  'a claim never ends': 'comes to rest',
} as const satisfies Record<string, Promised>;

export type Mistake = keyof typeof mistakes;

export type Promised =
  | 'told'
  | 'happened'
  | 'told to the new endpoint'
  | 'not told of what was before'
  | 'one delivery'
  | 'one try at once'
  | 'comes to rest';

const none: Flags = [false, false];
const both = (of: (event: Event) => boolean): Flags => [of(0), of(1)];
const isNone = ([created, ended]: Flags) => !created && !ended;
const withFlag = (flags: Flags, event: Event, value: boolean) =>
  both((one) => (one === event ? value : flags[one]));

const start: State = {
  ...{ happened: none, marks: none, before: null, after: none, processes: [null, null] },
  deliveries: [
    { event: 1 as const, endpoint: 0 },
    { event: 0 as const, endpoint: 1 },
    { event: 1 as const, endpoint: 1 },
  ].map((delivery) => ({ ...delivery, status: 'none', copies: 0, claim: null, told: false })),
};

type Step = StepTo<State>;

/** Everything that can happen next. */
function stepsFrom(state: State, mistake: Mistake | null): Step[] {
  return [
    ...changes(state, mistake),
    ...expirations(state, mistake),
    ...PROCESSES.flatMap((process) => {
      const doing = state.processes[process] ?? null;
      const names: Step[] =
        doing === null
          ? beginnings(state, process, mistake)
          : [
              ['is killed', withProcess(state, process, null)] as const,
              ...(doing.kind === 'making'
                ? [make(state, process, doing, mistake)]
                : tryOn(state, process, doing, mistake)),
            ];
      return names.map(([name, next]): Step => [`process ${process} ${name}`, next]);
    }),
  ];
}

/** The change and its mark are one write. */
function changes(state: State, mistake: Mistake | null): Step[] {
  const { happened, marks } = state;
  const event = EVENTS.find((one) => !happened[one]);
  const change = (one: Event, next: State): State => ({
    ...next,
    happened: withFlag(happened, one, true),
    after: withFlag(next.after, one, next.before !== null),
  });
  const mark = (one: Event, next: State): State => ({
    ...next,
    marks: withFlag(next.marks, one, true),
  });
  if (mistake === 'the mark is a write of its own, after the change') {
    // Its process may be killed in between: then the mark is never made.
    return event === undefined
      ? []
      : [
          [`event ${event} happens`, change(event, state)],
          [`event ${event} happens and is marked`, mark(event, change(event, state))],
        ];
  }
  if (mistake === 'the mark is a write of its own, before the change' && event !== undefined) {
    return [
      ...(marks[event] ? [] : [[`event ${event} is marked`, mark(event, state)] as const]),
      [`event ${event} happens`, change(event, mark(event, state))],
    ];
  }
  return event === undefined
    ? []
    : [[`event ${event} happens and is marked`, mark(event, change(event, state))]];
}

/** The time of a claim is over, whether its process was killed or stalls. */
function expirations(state: State, mistake: Mistake | null): Step[] {
  if (mistake === 'a claim never ends') return [];
  return state.deliveries.flatMap(({ claim }, index): Step[] => {
    if (claim === null) return [];
    const free = withDelivery(state, index, { claim: null });
    const doing = state.processes[claim];
    const holds = doing?.kind === 'trying' && doing.delivery === index;
    const next = holds ? withProcess(free, claim, { ...doing, isStalled: true }) : free;
    return [[`the claim of delivery ${index} is over`, next]];
  });
}

function beginnings(state: State, process: Process, mistake: Mistake | null): Step[] {
  const round: Making = {
    ...{ kind: 'making', step: 'marks', marks: none, hasNewEndpoint: false, before: null },
  };
  if (mistake === 'the endpoints are read before the marks') round.step = 'endpoints';
  const creation: Making = { ...round, before: state.happened };
  if (mistake === 'an endpoint is created without telling first what is marked') {
    creation.step = 'create';
  }
  return [
    ...(isNone(state.marks)
      ? []
      : [['looks for marks', withProcess(state, process, round)] as const]),
    ...(state.before === null
      ? [['begins to create the endpoint', withProcess(state, process, creation)] as const]
      : []),
    ...state.deliveries.flatMap(({ status, claim }, delivery): Step[] => {
      const isFree = claim === null || mistake === 'a claim has no condition';
      if (status !== 'pending' || !isFree) return [];
      const claimed = withDelivery(state, delivery, { claim: process });
      const trying: Trying = { kind: 'trying', step: 'claimed', delivery, isStalled: false };
      return [[`claims delivery ${delivery}`, withProcess(claimed, process, trying)]];
    }),
  ];
}

function make(state: State, process: Process, doing: Making, mistake: Mistake | null): Step {
  const go = (step: Making['step'], found: Partial<Making> = {}, changed: Partial<State> = {}) =>
    withProcess({ ...state, ...changed }, process, { ...doing, ...found, step });
  const end = (changed: Partial<State> = {}) =>
    doing.before === null
      ? withProcess({ ...state, ...changed }, process, null)
      : go('create', { marks: none, hasNewEndpoint: false }, changed);

  const isEarly = mistake === 'the endpoints are read before the marks';
  const unmarksFirst = mistake === 'the mark is taken off before the deliveries are inserted';
  const toTell = unmarksFirst ? 'unmark' : 'insert';
  switch (doing.step) {
    case 'marks': {
      if (isNone(state.marks)) return ['finds no mark', end()];
      return ['reads the marks', go(isEarly ? 'again' : 'endpoints', { marks: state.marks })];
    }
    case 'endpoints': {
      const hasNewEndpoint = state.before !== null;
      const isOnce = mistake === 'the marks are not read again after the endpoints';
      const next = isEarly ? 'marks' : isOnce ? toTell : 'again';
      return ['reads the endpoints', go(next, { hasNewEndpoint })];
    }
    case 'again': {
      const marks = both((event) => doing.marks[event] && state.marks[event]);
      if (isNone(marks)) return ['finds that all was told', end()];
      return ['reads the marks again', go(toTell, { marks })];
    }
    case 'insert': {
      const isNewEachTime = mistake === 'deliveries have new ids each time';
      const deliveries = state.deliveries.map((delivery) => {
        const { event, endpoint, status, copies } = delivery;
        const isTold = doing.marks[event] && (endpoint === 0 || doing.hasNewEndpoint);
        if (!isTold) return delivery;
        if (copies > 0) return isNewEachTime ? { ...delivery, copies: 2 } : delivery;
        return {
          ...delivery,
          copies: 1,
          status: status === 'none' ? ('pending' as const) : status,
        };
      });
      const name = 'inserts the deliveries';
      return unmarksFirst ? [name, end({ deliveries })] : [name, go('unmark', {}, { deliveries })];
    }
    case 'unmark': {
      const takesAll = mistake === 'marks are taken off that were not read';
      const marks = takesAll ? none : both((event) => state.marks[event] && !doing.marks[event]);
      const name = 'takes the marks off';
      return unmarksFirst ? [name, go('insert', {}, { marks })] : [name, end({ marks })];
    }
    case 'create': {
      // Another process was faster.
      const before = state.before ?? doing.before;
      return ['inserts the endpoint', withProcess({ ...state, before }, process, null)];
    }
  }
}

function tryOn(state: State, process: Process, doing: Trying, mistake: Mistake | null): Step[] {
  const { delivery, step } = doing;
  if (step === 'claimed') {
    const told = withDelivery(state, delivery, { told: true });
    return [
      [
        'sends, and the receiver accepts',
        withProcess(told, process, { ...doing, step: 'accepted' }),
      ],
      [
        'sends, and the receiver refuses',
        withProcess(state, process, { ...doing, step: 'refused' }),
      ],
    ];
  }
  const isOwn =
    state.deliveries[delivery]?.claim === process ||
    mistake === 'the end of a try does not ask for its claim';
  const status = step === 'accepted' ? 'delivered' : 'pending';
  const ended = isOwn ? withDelivery(state, delivery, { status, claim: null }) : state;
  return [['writes the end of its try down', withProcess(ended, process, null)]];
}

function withDelivery(state: State, index: number, changed: Partial<Delivery>): State {
  const deliveries = state.deliveries.map((one, at) =>
    at === index ? { ...one, ...changed } : one,
  );
  return { ...state, deliveries };
}

function withProcess(state: State, process: Process, doing: Making | Trying | null): State {
  const processes = state.processes.map((one, at) => (at === process ? doing : one));
  return { ...state, processes };
}

/** Nothing is left to do, whoever goes on. */
function isAtRest({ happened, before, marks, deliveries, processes }: State): boolean {
  return (
    happened.every(Boolean) &&
    before !== null &&
    isNone(marks) &&
    processes.every((doing) => doing === null) &&
    deliveries.every(({ status }) => status !== 'pending')
  );
}

function brokenIn(state: State): Promised | null {
  const { happened, before, after, deliveries, processes } = state;
  if (deliveries.some(({ told, event }) => told && !happened[event])) return 'happened';
  if (deliveries.some(({ copies }) => copies > 1)) return 'one delivery';
  const toNew = deliveries.filter(({ endpoint }) => endpoint === 1);
  if (toNew.some(({ event, copies }) => copies > 0 && before?.[event])) {
    return 'not told of what was before';
  }
  const isTriedTwice = deliveries.some((_, index) => {
    const tries = processes.filter((doing) => doing?.kind === 'trying' && doing.delivery === index);
    return tries.filter((doing) => doing?.kind === 'trying' && !doing.isStalled).length > 1;
  });
  if (isTriedTwice) return 'one try at once';
  if (!isAtRest(state)) return null;
  if (deliveries.some(({ endpoint, told }) => endpoint === 0 && !told)) return 'told';
  return toNew.some(({ event, told }) => after[event] && !told) ? 'told to the new endpoint' : null;
}

/** The processes are alike, so states in which they have changed places are one. */
function keyOf({ happened, marks, before, after, deliveries, processes }: State): string {
  const keys = [[0, 1] as const, [1, 0] as const].map(([first, second]) => {
    const place = { [first]: 'a', [second]: 'b' };
    const claims = deliveries.map(
      ({ status, copies, claim, told }) =>
        `${status[0]}${copies}${claim === null ? '-' : place[claim]}${told ? 1 : 0}`,
    );
    return `${claims} ${doingKey(processes[first])} ${doingKey(processes[second])}`;
  });
  const flags = [happened, marks, before, after].map(flagsKey).join('');
  return `${flags} ${keys.sort()[0]}`;
}

const flagsKey = (flags: Flags | null) =>
  flags === null ? '-' : Number(flags[0]) + 2 * Number(flags[1]);

function doingKey(doing: Making | Trying | null | undefined): string {
  if (!doing) return '';
  if (doing.kind === 'trying') return `${doing.step}${doing.delivery}${doing.isStalled}`;
  return `${doing.step}${flagsKey(doing.marks)}${doing.hasNewEndpoint}${flagsKey(doing.before)}`;
}

/** Looks at every state that any order of the steps leads to. */
export const explore = (mistake: Mistake | null = null): Exploration<Promised> =>
  exploreFrom(start, {
    stepsFrom: (state) => stepsFrom(state, mistake),
    ...{ keyOf, brokenIn, isAtRest },
  });
