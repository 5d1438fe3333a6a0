import { DomainError } from '@latchkey/domain/domain-error';
import type { Store } from '@latchkey/store/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StoreCall, StoreProcess } from './child.ts';
import { type FaultCase, faultCases, faultReads } from './fault-cases.ts';

/**
 * How a command fails: it never arrives, it arrives after its connection is lost, it arrives and its response is lost, a
 * pooler that has lost the server responds in its place, the database refuses it, or it only takes long.
 */
export type Loss = 'before' | 'late' | 'after' | 'pooled' | 'refused' | 'delayed';

export interface Fault {
  how: Loss;
  /** Of the commands of a call, from 1. */
  nth: number;
  /** Writes, or all commands. */
  of: 'writes' | 'all';
  /** Runs while the command is on its way: after it has arrived, if only its response is lost. */
  meanwhile?(): Promise<unknown>;
}

export interface Lost {
  /** Whether the call had such a command. */
  isHit: boolean;
  /** Lets what is late arrive. */
  arrive(): Promise<void>;
}

/** A database whose way can be made to fail. */
export interface FaultyDatabase {
  /** It goes that way. */
  store: Store;
  /** It goes around it. */
  witness: Store;
  lose(fault: Fault): Lost;
  /** Ends {@link lose}. */
  pass(): void;
  /** Nothing can be reached until {@link restore}. Left out where there is no connection. */
  refuse?(): Promise<void>;
  restore?(): Promise<void>;
  /** Makes calls in a process of its own, which is killed before or after its nth write. */
  killed(calls: StoreCall[], at: { nth: number; how: 'before' | 'after' }): Promise<void>;
  remove(): Promise<void>;
}

/** A command that is held on its way. */
interface Held {
  /** Lets it go on its way. */
  forward(): void;
  /** Has the database execute it; of its response, nobody hears. */
  execute(): Promise<void>;
}

/** What stands between a store and a database elsewhere. */
export interface Way<Command, H extends Held> {
  /** From now on, hands each command that matches to `handle` in place of the database. */
  hold(matches: (command: Command) => boolean, handle: (held: H) => void): void;
  passAll(): void;
  matches: Record<Fault['of'], (command: Command) => boolean>;
  /** Of a command that is not delayed: ends it, or its connection. */
  end(held: H, how: Loss): void;
  /** A process whose store goes that way. */
  start(): Promise<StoreProcess>;
}

/** The faults of a way. */
export function faultsOf<Command, H extends Held>(
  way: Way<Command, H>,
): Pick<FaultyDatabase, 'lose' | 'pass' | 'killed'> {
  function lose({ how, nth, of, meanwhile }: Fault): Lost {
    let count = 0;
    let held: H | undefined;
    way.hold(
      (command) => way.matches[of](command) && ++count === nth,
      async (command) => {
        held = command;
        if (how === 'after' || how === 'pooled') await command.execute();
        await meanwhile?.();
        if (how === 'delayed') command.forward();
        else way.end(command, how);
      },
    );
    return {
      get isHit() {
        return held !== undefined;
      },
      arrive: async () => (how === 'late' ? held?.execute() : undefined),
    };
  }

  return {
    lose,
    pass: () => way.passAll(),
    async killed(calls, at) {
      const process = await way.start();
      await process.load(calls);
      const { promise, resolve } = Promise.withResolvers<void>();
      lose({ ...at, of: 'writes', meanwhile: () => process.kill().then(resolve) });
      await Promise.race([promise, process.go()]).catch(() => undefined);
      await promise;
      way.passAll();
    },
  };
}

export interface FaultHarness {
  fresh(): Promise<FaultyDatabase>;
  losses: readonly Loss[];
  /** Whether another process can come between a command and its response. */
  isRemote: boolean;
  /** The writes at which a process is killed. */
  kills: readonly number[];
  /** What is told in each case: a file to review. Default: only what holds in all of them is checked. */
  file?: string;
}

/**
 * Each primitive, with its command lost in each way: what is told is true, nothing is made twice, and nothing that
 * arrives late undoes what came after it.
 */
export function describeFaults(harness: FaultHarness): void {
  let db: FaultyDatabase;
  beforeAll(async () => {
    db = await harness.fresh();
  });
  afterAll(() => db?.remove());

  /** `made`, `none` if it says that it was not made, or the code of its error, and whether that has the grant. */
  async function toldBy(store: Store, { call: { method, args }, isTold = isAnything }: FaultCase) {
    try {
      const result = await (store[method] as (...args: unknown[]) => Promise<unknown>)(...args);
      return { told: isTold(result) ? 'made' : 'none', of: '', result };
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const of = error.members.grant_id === undefined ? '' : ' of its grant';
      return { told: error.code, of, result: undefined };
    }
  }

  /**
   * @param note - gets what is told
   * @returns whether the call has such a write
   */
  async function lostAlone(of: Case, fault: OneFault, note: Note): Promise<boolean> {
    const one = await of(db.witness);
    const lost = db.lose({ ...fault, of: 'writes' });
    const { told, result, ...about } = await toldBy(db.store, one);
    db.pass();
    if (!lost.isHit) return false;
    note(told + about.of);
    if (told === 'made') {
      const undisturbed = await toldBy(db.witness, await of(db.witness));
      expect({ ...fault, result: formOf(result) }).toEqual({
        ...{ ...fault, result: formOf(undisturbed.result) },
      });
    }
    const isMade = await one.isMade(result);
    const isKnown = told === 'made' || (told !== 'outcome_unknown' && !one.hasParts);
    if (isKnown) expect({ ...fault, isMade }).toEqual({ ...fault, isMade: told === 'made' });
    if (one.next) {
      await one.next();
      await staysSo(one, lost, { ...fault, told });
    }
    return true;
  }

  async function lostWhenOvertaken(of: Case, fault: OneFault, note: Note): Promise<void> {
    const one = await of(db.witness);
    let ofOther: unknown;
    const meanwhile = async () => {
      await one.next?.();
      ofOther = await one.state();
    };
    const lost = db.lose({ ...fault, of: 'writes', meanwhile });
    const { told, of: about } = await toldBy(db.store, one);
    db.pass();
    note(told + about);
    if (told !== 'made') {
      expect({ ...fault, state: await one.state() }).toEqual({ ...fault, state: ofOther });
    }
    if (told === 'none') await one.last?.();
    await staysSo(one, lost, { ...fault, told });
  }

  async function staysSo(one: FaultCase, lost: Lost, fault: { told: string }): Promise<void> {
    if (one.mayCome && fault.told === 'outcome_unknown') return lost.arrive();
    const state = await one.state();
    await lost.arrive();
    expect({ ...fault, state: await one.state() }).toEqual({ ...fault, state });
  }

  const lines: string[] = [];

  test.each(Object.entries(faultCases))('%s', async (name, of) => {
    for (let nth = 1, isHit = true; isHit; nth++) {
      const told: string[] = [];
      try {
        for (const how of harness.losses) {
          isHit &&= await lostAlone(of, { how, nth }, (what) => told.push(`${how} ${what}`));
        }
        const isOvertaken = isHit && harness.isRemote && (await of(db.witness)).next !== undefined;
        for (const how of isOvertaken ? (['late', 'after', 'delayed'] as const) : []) {
          const note = (what: string) => told.push(`overtaken ${how} ${what}`);
          await lostWhenOvertaken(of, { how, nth }, note);
        }
      } finally {
        if (told.length > 0) lines.push(`${name}, write ${nth}: ${told.join(', ')}`);
      }
    }
    expect(lines.some((line) => line.startsWith(`${name}, write 1:`))).toBe(true);
  });

  if (harness.file !== undefined) {
    test('what is told is as it was reviewed', async ({ skip }) => {
      const cases = new Set(lines.map((line) => line.replace(/, write.*/, '')));
      const isWhole = cases.size === Object.keys(faultCases).length;
      skip(!isWhole, 'some cases did not run');
      await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(harness.file ?? '');
    });
  }

  if (harness.isRemote) {
    test.each(Object.entries(faultReads))('%s', async (_, of) => {
      const { call, expected } = await of(db.witness);
      for (let nth = 1, isHit = true; isHit; nth++) {
        for (const how of ['before', 'after'] as const) {
          const lost = db.lose({ how, nth, of: 'all' });
          const { method, args } = call;
          const found = await (db.store[method] as (...args: unknown[]) => Promise<unknown>)(
            ...args,
          );
          db.pass();
          isHit = lost.isHit;
          expect(found).toEqual(expected);
        }
      }
    });

    test('where nothing can be reached, nothing is made; later all is', async () => {
      const all = await prepared();
      await db.refuse?.();
      const told = await Promise.all(all.map(({ one }) => toldBy(db.store, one))).finally(() =>
        db.restore?.(),
      );
      for (const [index, { name, one }] of all.entries()) {
        const code = one.isPart ? 'outcome_unknown' : 'store_unavailable';
        const isMade = await one.isMade(undefined);
        expect([name, told[index]?.told, isMade]).toEqual([name, code, false]);
      }
      for (const { name, one } of all) {
        expect([name, (await toldBy(db.store, one)).told]).toEqual([name, 'made']);
      }
    });
  }

  test.each(
    harness.kills.flatMap((nth) => (['before', 'after'] as const).map((how) => ({ nth, how }))),
  )('a process that is killed $how write $nth leaves what can be repeated', async (at) => {
    const all = await prepared();
    await db.killed(
      all.map(({ one }) => one.call),
      at,
    );
    for (const { name, one } of all) {
      const isMade = await one.isMade(undefined);
      await one.state();
      if (one.isAnew) continue;
      const { told, result } = await toldBy(db.witness, one);
      if (!isMade) expect([name, told]).toEqual([name, 'made']);
      expect([name, await one.isMade(result)]).toEqual([name, isMade || told === 'made']);
    }
  });

  const prepared = () =>
    Promise.all(
      Object.entries(faultCases).map(async ([name, of]) => ({ name, one: await of(db.witness) })),
    );
}

type Case = (store: Store) => Promise<FaultCase>;
type OneFault = Pick<Fault, 'how' | 'nth'>;
type Note = (told: string) => void;

/** What a result consists of. */
const formOf = (result: unknown) =>
  Object.entries(result ?? {}).map(([name, value]) => [name, typeof value]);

const isAnything = (result: unknown) => result !== null && result !== false;
