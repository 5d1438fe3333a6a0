import { isDeepStrictEqual } from 'node:util';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { Input } from './condition.ts';
import type { AnyKind } from './kind.ts';
import { grants } from './kinds.ts';
import type { OnStep } from './step.ts';
import { copiedKinds, type Transfer } from './transfer.ts';
import { refuseCopied, type UseMark } from './use-mark.ts';

/** How many of each kind there are now, by its name, without what is left of deleted ones, and what it took. */
export type CopyResult = Record<string, number> & { written: number; removed: number };

// At about 1 KB a record. Larger pages are no faster, and one write blocks others for longer.
const PAGE = 1_000;

/**
 * Makes a database equal to another one, page by page. Each page that differed is read back. It may be
 * repeated until the target is used.
 *
 * @param options.last - marks the source, so that nothing is changed there any more, and opens the target
 * @throws Error if the target has other data or is used, or differs from what was read
 */
export async function copyDatabase(
  source: Transfer,
  target: Transfer,
  { last, onStep = () => {} }: { last: boolean; onStep?: OnStep | undefined },
): Promise<CopyResult> {
  const [from, to] = [await source.find(), await target.find()];
  if (from === null || (await isEmpty(source))) {
    throw new Error(`${source.name} has nothing to copy. Check --from.`);
  }
  const isRepeated = last && from.is === 'copied' && from.other.id === to?.id;
  if (!isRepeated) refuseCopied(from, source.name);
  const why = await whyNotToWrite(target, to, from);
  if (why !== null) throw new Error(`${target.name} ${why} Nothing was changed.`);

  const run = newId(Date.now());
  const id = to?.id ?? newId(Date.now());
  const other = { id: from.id, name: source.name };
  const keys = from.events_keys && { events_keys: from.events_keys };
  const mark = { id, is: 'copy', other, run, ...keys } as const;
  await replaceMark(target, to, mark);
  // Before the first page, so that no service starts and changes what was read already.
  const copied = {
    id: from.id,
    is: 'copied',
    other: { id, name: target.name },
    run,
    ...keys,
  } as const;
  if (last) {
    await replaceMark(source, from, copied);
    await source.makeDeliveries(Date.now());
  }
  const activity = await source.activity();

  const total = await source.estimateGrants();
  async function mirrorAll(does: string): Promise<CopyResult> {
    const result = { written: 0, removed: 0 } as CopyResult;
    for (const kind of copiedKinds) {
      let records = 0;
      const share = kind === grants ? { share: () => records / total } : {};
      onStep({ text: `${does} the ${kind.name.replaceAll('_', ' ')}`, ...share });
      for await (const page of mirror(kind, source, target, mark)) {
        for (const name of ['written', 'removed'] as const) result[name] += page[name];
        records += page.records;
      }
      result[kind.name] = records;
    }
    return result;
  }
  const result = await mirrorAll('copying');
  if (!last) return result;
  // A change that needs no read behind a fence, such as an operator's revocation, leaves no other trace.
  const late = await mirrorAll('comparing');
  const isQuiet = late.written + late.removed === 0 && (await source.activity()) === activity;
  if (!isQuiet || !isDeepStrictEqual(await source.find(), copied)) {
    throw new Error(
      `A service works on ${source.name}: what it changes would be lost. Stop every process that uses it, then repeat this. ${target.name} is closed until then.`,
    );
  }
  await replaceMark(target, mark, { ...mark, is: 'complete' });
  return result;
}

/** @returns null if it has no record that no copy of this source made */
async function whyNotToWrite(
  target: Transfer,
  to: UseMark | null,
  from: UseMark,
): Promise<string | null> {
  const advice = 'Name a new or an empty database.';
  if (to === null) return (await isEmpty(target)) ? null : `has data of its own. ${advice}`;
  if (to.id === from.id) return `is the same database as --from, or a backup of it. ${advice}`;
  if (to.is === 'used') {
    return `is in use: a service or a command has changed it. ${advice}`;
  }
  if (to.is === 'copied') return `was itself copied to ${to.other.name}. ${advice}`;
  return to.other.id === from.id
    ? null
    : `is a copy of another database, ${to.other.name}. ${advice}`;
}

async function isEmpty(database: Transfer): Promise<boolean> {
  for (const kind of copiedKinds) {
    if ((await database.read(kind, { after: null, limit: 1 })).length > 0) return false;
  }
  return true;
}

/** @throws Error if another process replaced the mark meanwhile */
async function replaceMark(
  database: Transfer,
  before: UseMark | null,
  after: UseMark,
): Promise<void> {
  if (!(await database.replace(before, after))) throw interrupted(database);
}

const interrupted = ({ name }: Transfer) =>
  new Error(
    `Another copy has begun, or a service was started on ${name}. This copy has stopped. Make sure that only one runs, then repeat it.`,
  );

/** Makes the records of a kind equal. Both databases are read in the order of the keys. */
async function* mirror(kind: AnyKind, source: Transfer, target: Transfer, mark: UseMark) {
  const key = (record: Input) => record[kind.key] as string;
  for (let after: string | null = null; ; ) {
    const page: { after: string | null; limit: number } = { after, limit: PAGE };
    const both = await Promise.all([source.read(kind, page), target.read(kind, page)]);
    // Behind the end of a full page there may be more.
    const ends = both.flatMap((records) => records.slice(PAGE - 1).map(key));
    const end = ends.sort()[0];
    const within = (records: readonly Input[]) =>
      end === undefined ? records : records.filter((record) => key(record) <= end);
    const [wanted, found] = [within(both[0]), within(both[1])];

    const present = new Map(found.map((record) => [key(record), record]));
    const written = wanted.filter((record) => !isDeepStrictEqual(record, present.get(key(record))));
    for (const record of wanted) present.delete(key(record));
    const removed = [...present.keys()];
    if (written.length + removed.length > 0) {
      // A slower copy must not undo what a later one has brought, nor what a service changed.
      if (!(await target.write(kind, { records: written, removed }, mark)))
        throw interrupted(target);
      if (!isDeepStrictEqual(within(await target.read(kind, page)), wanted)) {
        throw new Error(
          `The ${kind.name} that were copied differ from the originals. Copy again; if they differ again, do not use the target, and report it.`,
        );
      }
    }
    yield {
      records: wanted.filter(isThere).length,
      written: written.length,
      removed: removed.length,
    };
    if (end === undefined) return;
    after = end;
  }
}

const isThere = ({ deleted_at = null, erased_at = null }: Input) =>
  deleted_at === null && erased_at === null;
