import { randomUUID } from 'node:crypto';
import type { Adapter } from '@latchkey/store/adapter';
import {
  type AnyCall,
  type AnyHolder,
  adapterOf,
  changeOf,
  type Options,
  type Primitives,
} from '@latchkey/store/call-sites';
import {
  givens,
  type Input,
  keyOf,
  mayBeLate,
  member,
  type Setting,
  type Source,
  type Term,
  termsOf,
} from '@latchkey/store/condition';
import type { AnyKind } from '@latchkey/store/kind';
import { retryOnConflict } from '@latchkey/store/retry-on-conflict';
import {
  byShape,
  decoderOf,
  joinedSite,
  nextSite,
  type Statement,
  selectionOf,
  sqlReads,
} from '@latchkey/store/sql/statement';
import {
  changeOutcome,
  modifying,
  removalOutcome,
  some,
  type Versioned,
} from '@latchkey/store/versioned';
import { foundText, sharedReads, sharedWrites } from './batches.ts';
import type { Database } from './database.ts';
import { dialect } from './dialect.ts';
import { FENCED, UNFENCED } from './fence.ts';
import { decidedMark, declaredMarks, marksIn } from './marks.ts';
import { senderOf, shared, statements, valuesOfAll } from './statements.ts';

/** Small enough that no write delays others. */
const MOST_AT_ONCE = 1_000;

/** The version of a record is the transaction that wrote it. */
const VERSION = 'own.xmin::text';
const atVersion = (statement: Statement) =>
  ` AND ${VERSION} = ${statement.raw(({ version }) => version, 'text')}`;

const isKey = ({ key }: AnyKind, value = member(key)): Term => ({
  ...{ is: 'equal', name: key, value, isUnset: false },
});

/** Whether the call has a mark. */
const MARKED: readonly Term[] = [{ is: 'optional', given: 'mark', isGiven: true, terms: [] }];

const allOf = ({ fields }: AnyKind) => Object.keys(fields);
/** What follows other columns. */
const columnsOf = (fields: readonly string[]) => fields.map((name) => `, own.${name}`).join('');

/** @param recordsEvents - whether a change leaves marks of the events that it is */
export function postgresqlAdapter(
  database: Database,
  { recordsEvents = false }: { recordsEvents?: boolean } = {},
): Adapter {
  const sender = senderOf(database);

  const lookUps = new Map<string, (key: unknown) => Promise<Versioned | null>>();
  /** @param lock - `FOR UPDATE` waits for the end of whoever is changing the record. Default: none */
  function lookUpOf(kind: AnyKind, lock = ''): (key: unknown) => Promise<Versioned | null> {
    const name = kind.name + lock;
    let lookUp = lookUps.get(name);
    if (lookUp === undefined) {
      const terms = [isKey(kind)];
      const decode = decoderOf(dialect, kind, allOf(kind));
      const read = sharedReads(
        database,
        terms,
        (statement) =>
          ` SELECT i.call, ${VERSION} AS version${columnsOf(allOf(kind))} FROM i, ${kind.name} own
          WHERE ${statement.where(kind, terms, {}, 'own.')} AND ${FENCED} ORDER BY own.${kind.key} ${lock}`,
      );
      lookUp = async (key) => {
        const row = await read({ [kind.key]: key });
        return row && { version: row.version, record: decode(row) };
      };
      lookUps.set(name, lookUp);
    }
    return lookUp;
  }

  const joined: Primitives['joined'] = (...of) => {
    const site = joinedSite(dialect, ...of);
    const read = (fence: string) =>
      sharedReads(database, site.terms, (statement, like) =>
        foundText(site, statement, like, fence),
      );
    const [decisive, plain] = [read(dialect.fenced), read('')];
    return async (input) => {
      const row = await database.run(() => (input.mayBeStale ? plain : decisive)(input));
      return row && site.result(site.decode(row), input);
    };
  };

  /** Inserts the records of `from`: what follows `i`. */
  function insertion(
    statement: Statement,
    kind: AnyKind,
    { from = 'i', fence = FENCED, isNew = false, isMarked = false } = {},
  ): string {
    const names = allOf(kind);
    const values = names.map((name) => {
      const { type, initial = null } = kind.fields[name];
      return statement.parameter(type, (record) => record[name] ?? initial);
    });
    const key = values[names.indexOf(kind.key)];
    return `, made AS (
        INSERT INTO ${kind.name} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${from} ORDER BY ${key}
        ${isNew ? 'ON CONFLICT DO NOTHING ' : ''}RETURNING ${kind.key})${isMarked ? decidedMark(statement, kind) : ''}
      SELECT i.call FROM made JOIN i ON ${key} = made.${kind.key} WHERE ${fence}`;
  }

  /** Never sent again: a late first command could restore a record that was deleted. */
  const insertOnce: Primitives['insertOnce'] = (kind, { grant_id } = {}) => {
    const key = member(kind.key);
    const insert = sharedWrites(database, [], key, (statement) => insertion(statement, kind));
    const lookUp = lookUpOf(kind);
    return async (input) => {
      await database.settle<unknown>({
        ...(grant_id && { grant_id: grant_id(input) }),
        send: (begin) => insert(input, begin),
        readBack: async () => ((await lookUp(key(input))) ? { result: true } : 'unknown'),
      });
    };
  };

  const insertNew: Primitives['insertNew'] = (kind) => {
    const insert = shared((statement) => insertion(statement, kind, { isNew: true }));
    return async (records) => {
      if (records.length === 0) return;
      await database.settle({
        isPart: true,
        send: (begin) => database.send(insert.text, valuesOfAll(insert, records), begin),
      });
    };
  };

  /** Changes or removes records, each locked before in the order of their keys: what follows `i`. */
  function writing(
    statement: Statement,
    kind: AnyKind,
    which: string,
    fields: readonly string[],
    { settings, fence = FENCED, mark = '' }: Writing,
  ): string {
    const verb =
      settings === undefined
        ? `DELETE FROM ${kind.name} own USING locked i`
        : `UPDATE ${kind.name} own SET ${statement.set(kind, settings)} FROM locked i`;
    return `, locked AS MATERIALIZED (
        SELECT own.${kind.key} AS locked_key, i.* FROM i CROSS JOIN ${kind.name} own
        WHERE ${which} ORDER BY own.${kind.key} FOR UPDATE OF own),
      made AS (${verb} WHERE own.${kind.key} = i.locked_key RETURNING i.call${columnsOf(fields)})${mark}
      SELECT * FROM made WHERE ${fence}`;
  }
  type Writing = { settings?: readonly Setting[]; fence?: string; mark?: string };

  const marksOf = (...of: Parameters<typeof declaredMarks>) =>
    recordsEvents ? declaredMarks(...of) : { fields: [], text: '' };

  const change: Primitives['change'] = (
    kind,
    to,
    fields,
    result,
    { grant_id, isExact = false } = {},
  ) => {
    const { terms, settings } = changeOf(to);
    const key = keyOf(kind, terms) as Source;
    const isLate = !isExact && mayBeLate(kind, terms, settings);
    const told = marksOf(kind, terms, settings);
    const make = sharedWrites(database, terms, key, (statement, like) => {
      const which = statement.where(kind, terms, like, 'own.');
      const exactly = isLate ? which : which + atVersion(statement);
      const returned = [...new Set([...fields, ...told.fields])];
      return writing(statement, kind, exactly, returned, { settings, mark: told.text });
    });
    const decode = decoderOf(dialect, kind, fields);
    const lookUpLocked = lookUpOf(kind, 'FOR UPDATE OF own');
    const outcomeOf = changeOutcome(kind, terms, settings, fields, isExact);
    const makeAt = (input: Input, version: string | null) =>
      database.settle<Input | null>({
        ...(grant_id && { grant_id: grant_id(input) }),
        async send(begin) {
          const row = await make({ ...input, version }, begin);
          return row && decode(row);
        },
        readBack: async () => outcomeOf(await lookUpLocked(key(input)), input, version),
      });
    const findVersion = sharedReads(database, terms, (statement, like) => {
      const which = statement.where(kind, terms, like, 'own.');
      return ` SELECT i.call, ${VERSION} AS version FROM i, ${kind.name} own WHERE ${which} AND ${FENCED}`;
    });
    return async (input) => {
      const record = isLate
        ? await makeAt(input, null)
        : await retryOnConflict(
            () => database.run(() => findVersion(input)),
            ({ version }) => makeAt(input, version),
          );
      return record && result(record, input);
    };
  };

  /** Those of a call may be made twice, and late. */
  const changeEach: Primitives['changeEach'] = (kind, to) => {
    const { terms, settings } = changeOf(to);
    const { fields, text: mark } = marksOf(kind, terms, settings);
    const make = sharedWrites(database, terms, keyOf(kind, terms) as Source, (statement, like) => {
      const which = statement.where(kind, terms, like, 'own.');
      return writing(statement, kind, which, fields, { settings, mark });
    });
    return async (inputs) => {
      if (inputs.length === 0) return;
      await database.settle<unknown>({
        isPart: true,
        async send(begin) {
          const made = inputs.map((input) => make(input, begin));
          await Promise.allSettled(made);
          return Promise.all(made);
        },
      });
    };
  };

  /**
   * Decides and changes in one statement. What is taken only now and then passes over what others take; for the rest,
   * "there is none" has to be true.
   */
  const changeSome: Primitives['changeSome'] = (
    kind,
    to,
    fields,
    result,
    { isDecisive = true, ...options },
  ) => {
    const { terms, settings } = changeOf(to);
    const selection = selectionOf(dialect, kind, terms, options);
    const told = marksOf(kind, terms, settings);
    const columns = columnsOf([...new Set([...fields, ...told.fields])]);
    const decode = decoderOf(dialect, kind, fields);
    const most: Source = ({ limit }) => Math.min(Number(limit ?? MOST_AT_ONCE), MOST_AT_ONCE);
    const statementOf = statements(terms, (statement, like) => {
      const which = selection.which(statement, like);
      const some = selection.text(which, statement.raw(most, 'number'));
      return `WITH found AS MATERIALIZED (
            SELECT ${kind.key} AS found_key${some}${isDecisive ? '' : ' FOR UPDATE SKIP LOCKED'}),
          locked AS MATERIALIZED (
            SELECT own.${kind.key} AS locked_key FROM ${kind.name} own
            WHERE ${kind.key} IN (SELECT found_key FROM found) AND ${which}
            ORDER BY own.${kind.key} FOR UPDATE),
          made AS (
            UPDATE ${kind.name} own SET ${statement.set(kind, settings)} FROM locked
            WHERE own.${kind.key} = locked.locked_key RETURNING true AS is_made${columns})${told.text}
          SELECT found_some, made.* FROM (SELECT count(*) > 0 AS found_some FROM found) counted
          LEFT JOIN made ON true WHERE ${FENCED}`;
    });
    return async (input) => {
      // A repetition would not know what the first command has changed.
      const rows = await database.write(...statementOf(input));
      if (!rows[0]?.found_some) return null;
      return rows.filter((row) => row.is_made).map((row) => result(decode(row), input));
    };
  };

  const remove: Primitives['remove'] = (
    kind,
    where,
    fields,
    result,
    { grant_id, isReused = false } = {},
  ) => {
    const terms = termsOf(where(givens as never));
    const key = keyOf(kind, terms) as Source;
    const make = sharedWrites(database, terms, key, (statement, like) =>
      writing(statement, kind, statement.where(kind, terms, like, 'own.'), fields, {}),
    );
    const decode = decoderOf(dialect, kind, fields);
    const lookUpLocked = lookUpOf(kind, 'FOR UPDATE OF own');
    const outcomeOf = removalOutcome(terms, isReused);
    return async (input) => {
      const record = await database.settle<Input | null>({
        ...(grant_id && { grant_id: grant_id(input) }),
        async send(begin) {
          const row = await make(input, begin);
          return row && decode(row);
        },
        readBack: async () => outcomeOf(await lookUpLocked(key(input)), input),
      });
      return record && result(record, input);
    };
  };

  const removeSome: Primitives['removeSome'] = (kind, where) => {
    const terms = termsOf(where(givens as never));
    const statementOf = statements(
      terms,
      (statement, like) => `WITH locked AS MATERIALIZED (
            SELECT own.${kind.key} AS locked_key FROM ${kind.name} own
            WHERE ${statement.where(kind, terms, like, 'own.')} ORDER BY own.${kind.key} FOR UPDATE),
          made AS (DELETE FROM ${kind.name} own USING locked WHERE own.${kind.key} = locked.locked_key RETURNING 1)
          SELECT count(*) AS removed FROM made WHERE ${FENCED}`,
    );
    return async (input) => {
      const [row] = await database.settle({
        send: (begin) => database.send(...statementOf(input), begin),
      });
      return row?.removed;
    };
  };

  /** Taken again if it is lost with its connection. */
  const next: Primitives['next'] = (...of) => sender.read(nextSite(dialect, ...of));

  const modify: Primitives['modify'] = (
    kind,
    key,
    decide,
    { grant_id, isBestEffort = false, isReused = false } = {},
  ) => {
    const lookUp = lookUpOf(kind);
    const lookUpLocked = lookUpOf(kind, 'FOR UPDATE OF own');
    const names = allOf(kind);
    const terms = [isKey(kind)];
    const settings = names
      .filter((name) => name !== kind.key)
      .map((name): Setting => ({ is: 'set', name, value: member(name), isValue: true }));
    const fence = isBestEffort ? UNFENCED : FENCED;
    const replacing = byShape(MARKED, (like) =>
      shared((statement) => {
        const which = statement.where(kind, terms, {}, 'own.') + atVersion(statement);
        const mark = like.mark ? decidedMark(statement, kind) : '';
        return writing(statement, kind, which, [kind.key], { settings, fence, mark });
      }),
    );
    const inserting = byShape(MARKED, ({ mark }) =>
      shared((statement) =>
        insertion(statement, kind, { isNew: true, isMarked: mark !== null, fence }),
      ),
    );

    return modifying({
      ...{ key, decide, isReused },
      lookUp: (id) => database.run(() => lookUp(id)),

      write(found, put, event, input, readBack) {
        // One that replaces others is left to whoever reads the marks: the last one counts.
        const mark = event && recordsEvents ? { name: null, ...event, id: randomUUID() } : null;
        const given = { ...put, version: found?.version, mark };
        const statement = (found === null ? inserting : replacing)(given);
        const values = valuesOfAll(statement, [given]);
        const send = async (begin?: () => boolean) =>
          (await database.send(statement.text, values, begin)).length === 1 || null;
        if (isBestEffort) return database.run(() => send());
        return database.settle<true | null>({
          ...(grant_id && { grant_id: grant_id(input) }),
          send,
          readBack: async () => readBack(await lookUpLocked(put[kind.key])),
        });
      },
    });
  };

  /** At the version of the holder that is copied, which is locked: whatever changes it later finds the record. */
  function insertHeld(
    kind: AnyKind,
    { kind: holder, by, fields, copy }: AnyHolder,
    { grant_id }: Options = {},
  ): AnyCall<Input | null> {
    const lookUpHolder = lookUpOf(holder);
    const lookUp = lookUpOf(kind);
    const key = member(kind.key);
    const terms = [isKey(holder, member(by))];
    const insert = sharedWrites(database, [], key, (statement) => {
      const which = statement.where(holder, terms, {}, 'own.') + atVersion(statement);
      return `, held AS MATERIALIZED (
          SELECT i.call FROM i CROSS JOIN ${holder.name} own WHERE ${which} ORDER BY own.${holder.key} FOR SHARE OF own)
        ${insertion(statement, kind, { from: 'i JOIN held USING (call)' })}`;
    });
    return (input) =>
      retryOnConflict(
        async () => {
          const found = await database.run(() => lookUpHolder(input[by]));
          const copied = found && copy(some(found.record, fields), input);
          return copied && { record: { ...input, ...copied }, version: found.version };
        },
        ({ record, version }) =>
          database.settle<Input | null>({
            ...(grant_id && { grant_id: grant_id(input) }),
            send: async (begin) => (await insert({ ...record, version }, begin)) && record,
            readBack: async () => ((await lookUp(key(input))) ? { result: record } : 'unknown'),
          }),
      );
  }

  return adapterOf(
    {
      ...sqlReads(dialect, sender),
      ...marksIn(database),
      ...{ joined, next, insertOnce, insertNew, insertHeld },
      ...{ change, changeSome, changeEach, modify, remove, removeSome },
    },
    (steps) => database.inSequence(steps),
  );
}
