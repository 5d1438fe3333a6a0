import { defaultTimeouts } from '@latchkey/store/server-store';
import type { OpenStore } from '@latchkey/store-suite/every-operation';
import type { CommandStartedEvent, Db, Document } from 'mongodb';
import { createClient } from '../src/client.ts';
import { Database } from '../src/database.ts';
import { operations } from '../src/mongo-store.ts';

/** What a command examined, and what it found, on all shards together. */
export interface Examined {
  keys: number;
  documents: number;
  returned: number;
  /** Its indexes, or `COLLSCAN`. */
  by: string;
}

/** These find nothing: they insert, open, end, or go on with a `find`. */
const others = new Set([
  ...['insert', 'getMore', 'killCursors', 'commitTransaction', 'abortTransaction', 'endSessions'],
  ...['hello', 'ping', 'buildInfo', 'connectionStatus', 'create', 'createIndexes', 'listIndexes'],
]);

const writing = new Set(['insert', 'update', 'delete', 'findAndModify']);

/**
 * Opens a store that explains the commands of each call once the call is over.
 *
 * @param url - with `monitorCommands=true`
 * @param onExplained - gets the shape of each command: all but the values
 */
export async function openExplained(
  url: string,
  onExplained: (shape: string, examined: Examined) => void,
): Promise<{ store: OpenStore; takeChanged(): number; close(): Promise<void> }> {
  const { client, name } = createClient(url, defaultTimeouts);
  const database = new Database(client, name, defaultTimeouts, undefined, {
    reducesRevoked: true,
  });
  await database.prepare();
  const explainer = createClient(url, defaultTimeouts).client;
  let sent: CommandStartedEvent[] = [];
  client.on('commandStarted', (event) => sent.push(event));
  let changed = 0;
  client.on('commandSucceeded', ({ commandName, reply }) => {
    const { n, lastErrorObject } = reply as Document;
    if (writing.has(commandName)) changed += n ?? lastErrorObject?.n ?? 0;
  });

  async function explainSent(): Promise<void> {
    const commands = sent.splice(0);
    for (const { commandName, command } of commands) {
      if (others.has(commandName)) continue;
      for (const one of singleCommands(commandName, command)) {
        onExplained(shapeOf(commandName, one), await explain(explainer.db(name), one));
      }
    }
  }

  const own = operations(database, Date.now, true, 1);
  const store: OpenStore = {
    ...own,
    ping: async () => undefined,
    // dbStats has no plan.
    measure: async () => ({ database_bytes: 0, free_bytes: null, backed_up_at: null }),
  };
  const explained =
    (call: unknown) =>
    async (...input: unknown[]) => {
      const result = await (call as (...input: unknown[]) => unknown)(...input);
      await explainSent();
      return result;
    };
  const calls = Object.entries(store).map(([operation, call]) => [operation, explained(call)]);
  const housekeeping = own.housekeeping.map(({ name, step }) => ({ name, step: explained(step) }));
  sent = [];
  return {
    store: { ...Object.fromEntries(calls), housekeeping },
    /** How many documents were written since this was called last. */
    takeChanged() {
      const count = changed;
      changed = 0;
      return count;
    },
    async close() {
      await database.close();
      await explainer.close();
    },
  };
}

/** `explain` takes one update or deletion at a time. */
function singleCommands(name: string, command: Document): Document[] {
  const {
    lsid: _lsid,
    txnNumber: _txnNumber,
    $db: _$db,
    $clusterTime: _$clusterTime,
    $readPreference: _$readPreference,
    readConcern: _readConcern,
    writeConcern: _writeConcern,
    ...plain
  } = command;
  const [list] = ['updates', 'deletes'].filter((member) => Array.isArray(plain[member]));
  if (list === undefined) return [plain];
  return plain[list].map((one: Document) => ({ [name]: plain[name], [list]: [one] }));
}

function shapeOf(name: string, command: Document): string {
  const { filter, query, pipeline, updates, deletes, sort, hint } = command;
  const [{ q } = { q: undefined }] = updates ?? deletes ?? [];
  const found = pipeline ? pipeline.map(stageShape).join(' ') : valueShape(filter ?? query ?? q);
  const keys = sort && [...sort].map(([key, direction]) => `${key} ${direction}`);
  const order = keys ? ` sort ${keys.join(', ')}` : '';
  return `${name} ${command[name]} ${found}${order}${hint ? ` hint ${hint}` : ''}`;
}

function stageShape(stage: Document): string {
  return '$match' in stage ? valueShape(stage.$match) : (Object.keys(stage)[0] ?? '');
}

function valueShape(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${[...new Set(value.map(valueShape))].join(', ')}]`;
  if (typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return '?';
  const members = Object.entries(value).map(([name, member]) => {
    const shape = valueShape(member);
    return shape === '?' ? name : `${name}: ${shape}`;
  });
  return `{${members.join(', ')}}`;
}

async function explain(db: Db, command: Document): Promise<Examined> {
  const explanation = await db.command({ explain: command, verbosity: 'executionStats' });
  const stages = ['nReturned', 'nMatched', 'nWouldDelete'].map((name) => sum(explanation, name));
  return {
    keys: sum(explanation, 'totalKeysExamined'),
    documents: sum(explanation, 'totalDocsExamined'),
    returned: Math.max(...stages),
    by: indexesOf(explanation),
  };
}

/** The sum of a number over all shards and stages; what stands below one is part of it. */
function sum(node: unknown, name: string): number {
  if (typeof node !== 'object' || node === null) return 0;
  const found = (node as Document)[name];
  // An update returns nothing, and its stages say what it matched.
  if (found !== undefined && (name !== 'nReturned' || Number(found) > 0)) return Number(found);
  return Object.values(node).reduce((total, member) => total + sum(member, name), 0);
}

/** Each once. */
export const joined = (names: readonly string[]) => [...new Set(names)].sort().join(' ');

function indexesOf(explanation: Document): string {
  const plans = JSON.stringify(explanation, (key, value) =>
    key === 'rejectedPlans' || key === 'executionStats' ? undefined : value,
  );
  const words = plans.match(/(?<="indexName":")\w+|IDHACK|COLLSCAN|(?<="indexesUsed":\[)[^\]]+/g);
  const names = (words ?? []).flatMap((word) => word.replaceAll('"', '').split(','));
  return joined(names.map((name) => (name === 'IDHACK' ? '_id_' : name)));
}
