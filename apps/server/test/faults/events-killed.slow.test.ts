import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidFromBytes } from '@latchkey/schema';
import { longer } from '@latchkey/test-kit/long';
import { describeWithMongod } from '@latchkey/test-kit/mongodb/describe';
import { MongodbProxy, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { ReplicaSet } from '@latchkey/test-kit/mongodb/replica-set';
import { freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { seededRandom } from '@latchkey/test-kit/seeded-random';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { faultsOf } from '../history/nemesis.ts';
import { postgresqlDatabase, sqliteDatabase, type TestDatabase } from '../http/databases.ts';
import {
  type Change,
  eventOf,
  type Moment,
  SERVICES,
  TellingServices,
} from './telling-services.ts';

const timeout = longer(600_000, 1_800_000);

const say = (where: string, kills: Map<string, number>, counts: object) => {
  const found = [...kills].map(([point, count]) => `${point} ${count}`).join(', ');
  process.stderr.write(`kill -9 on ${where}: ${found}; ${JSON.stringify(counts)}\n`);
};

/** Kills services at moments that likely find each step, until each was found often enough. */
async function killOnSql(where: string, database: TestDatabase): Promise<void> {
  const KILLS = longer(8, 200);
  const random = seededRandom('kill -9 of what tells');
  onTestFinished(database.remove);
  const telling = await TellingServices.start({ A: database.url, B: database.url });
  const steps = Object.keys(sqlSteps) as SqlStep[];
  const found = new Map(steps.map((step) => [step, 0]));
  for (let kills = 0; kills < 6 * KILLS && Math.min(...found.values()) < KILLS; kills++) {
    await sleep(random() * 100);
    const rarest = steps.toSorted((a, b) => (found.get(a) ?? 0) - (found.get(b) ?? 0))[0];
    const service = telling.services[await telling.next(sqlSteps[rarest as SqlStep])];
    const { pid } = service;
    await service.kill();
    for (const step of stepsFound(await eventsIn(database), telling, pid)) {
      found.set(step, (found.get(step) ?? 0) + 1);
    }
    await service.restart();
  }
  say(where, found, await telling.verify(database.url));
  for (const [step, kills] of found) expect([step, kills >= KILLS]).toEqual([step, true]);
}

test('two services on SQLite, killed at any step, tell every change', { timeout }, async () => {
  await killOnSql('SQLite', await sqliteDatabase());
});

describeOnPostgresql('two services, killed at any step,', (server) => {
  test('tell every change', { timeout }, async () => {
    await killOnSql('PostgreSQL', await postgresqlDatabase(server));
  });
});

/**
 * The steps, and the moment of a kill that likely finds them. Deliveries are stored just before the mark is
 * removed, so few kills come in between.
 */
const sqlSteps = {
  'before the mark': 'asked',
  'after the mark': 'acknowledged',
  'after the claim': 'heard',
  "after the receiver's answer, before 'delivered'": 'answered',
} as const satisfies Record<string, Moment>;

type SqlStep = keyof typeof sqlSteps;

/** The events of grants, by what has become of them. */
type Events = Record<'marked' | 'pending' | 'delivered', Set<string>>;

// One statement, so that it sees one moment.
const EVENTS = `SELECT 'marked' AS state, type, about AS grant_id FROM marks WHERE of = 'grants'
  UNION ALL SELECT status, type, grant_id FROM deliveries WHERE grant_id IS NOT NULL`;

async function eventsIn({ url, system }: TestDatabase): Promise<Events> {
  const found: Events = { marked: new Set(), pending: new Set(), delivered: new Set() };
  for (const { state, type, grant_id } of await rowsOf()) {
    const of = typeof grant_id === 'string' ? grant_id : uuidFromBytes(grant_id);
    found[state]?.add(eventOf({ type, of }));
  }
  return found;

  async function rowsOf() {
    type Row = { state: keyof Events; type: Change['type']; grant_id: string | Uint8Array };
    if (system === 'postgresql') return query<Row>(url, EVENTS);
    const database = new DatabaseSync(url.slice('file:'.length), { readOnly: true });
    const rows = database.prepare(EVENTS).all() as Row[];
    database.close();
    return rows;
  }
}

/** The steps at which a process was killed, as the database shows them. */
function stepsFound(
  { marked: marks, pending, delivered }: Events,
  { changes, messages }: TellingServices,
  pid: number,
): SqlStep[] {
  const marked = new Set([...marks].filter((one) => !pending.has(one) && !delivered.has(one)));

  const own = changes.filter((change) => change.pid === pid);
  const sent = messages.filter((message) => message.pid === pid && pending.has(message.about));
  const isUnmarked = (change: Change) =>
    [marked, pending, delivered].every((events) => !events.has(eventOf(change)));
  const holds: Record<SqlStep, boolean> = {
    'before the mark': own.some((one) => !one.isAcknowledged && isUnmarked(one)),
    'after the mark': own.some((change) => marked.has(eventOf(change))),
    'after the claim': sent.some(({ isAnswered }) => !isAnswered),
    "after the receiver's answer, before 'delivered'": sent.some(({ isAnswered }) => isAnswered),
  };
  return (Object.keys(holds) as SqlStep[]).filter((step) => holds[step]);
}

/** A command of the service at which it is killed: before the database has it, or after. */
interface Point {
  is(command: Document): boolean;
  isExecuted: boolean;
}

const updatesOf = ({ updates = [] }: Document): Document[] => updates.map(({ u }: Document) => u);

const marks = (command: Document) =>
  [command.update, ...updatesOf(command)].some((update) => update?.$push?.marks !== undefined);

const points: Record<string, Point | 'answered'> = {
  'before the mark': { is: marks, isExecuted: false },
  'after the mark': { is: marks, isExecuted: true },
  'between insert and unmark': {
    is: (command) =>
      command.update === 'grants' &&
      updatesOf(command).some((update) => Array.isArray(update) && update[0]?.$set?.marks),
    isExecuted: false,
  },
  'after the claim': {
    is: (command) =>
      command.update === 'deliveries' && updatesOf(command).some(({ $set }) => $set?.claim),
    isExecuted: true,
  },
  "after the receiver's answer": 'answered',
  "before 'delivered'": {
    is: (command) =>
      command.update === 'deliveries' &&
      updatesOf(command).some(({ $set }) => $set?.status === 'delivered'),
    isExecuted: false,
  },
};

describeWithMongod('two services that are killed at every step,', (mongod) => {
  const KILLS = longer(1, 20);
  const KILLS_A_FAULT = longer(2, 10);
  let set: ReplicaSet;
  beforeAll(async () => {
    set = await ReplicaSet.start(mongod, { members: 3 });
  });
  afterAll(() => set.stop());

  test('tell every change, while the primary changes', { timeout }, async () => {
    const random = seededRandom('kill -9 of what tells, on MongoDB');
    const url = urlOf(set.url, freshName());
    const [A, B] = [await MongodbProxy.start(set.url), await MongodbProxy.start(set.url)];
    const proxies = { A, B };
    onTestFinished(async () => void (await Promise.all([A.stop(), B.stop()])));
    const telling = await TellingServices.start({ A: urlThrough(A, url), B: urlThrough(B, url) });
    const faults = Object.values(faultsOf(set));
    const kills = new Map<string, number>();

    /** @returns whether it was killed there: the database may be gone first */
    async function killAt(point: Point | 'answered'): Promise<boolean> {
      if (point === 'answered') {
        const service = telling.services[await telling.next('answered')];
        await service.kill();
        await service.restart();
        return true;
      }
      const name = SERVICES[Math.floor(random() * SERVICES.length)] ?? 'A';
      const held = await proxies[name].holdNext(point.is);
      const isThere = point.isExecuted
        ? await held.execute().then(
            () => true,
            () => false,
          )
        : true;
      await telling.services[name].kill();
      held.cut();
      await telling.services[name].restart();
      return isThere;
    }

    let made = 0;
    for (const [name, point] of Object.entries(points)) {
      while ((kills.get(name) ?? 0) < KILLS) {
        const fault =
          ++made % KILLS_A_FAULT === 0 ? faults[(made / KILLS_A_FAULT) % faults.length] : null;
        const [isThere] = await Promise.all([killAt(point), fault?.()]);
        if (isThere) kills.set(name, (kills.get(name) ?? 0) + 1);
      }
    }
    say('a replica set of three', kills, await telling.verify(url));
  });
});
