import { isDeepStrictEqual } from 'node:util';
import { newId } from '../credentials/credentials.ts';
import { type CopiedKind, copiedKinds, keyOf, type Transfer } from './transfer.ts';
import { type UseMark, whyNotToUse } from './use-mark.ts';

/** How many of each kind there are now, and what it took. */
export interface CopyResult extends Record<CopiedKind, number> {
  written: number;
  removed: number;
}

// At about 1 KB a record. Larger pages are no faster, and one write blocks others for longer.
const PAGE = 1_000;

/**
 * Makes a database equal to another one, page by page. Each page that differed is read back. It may be
 * repeated until the target is used.
 *
 * @param options.last - marks the source, so that nothing is changed there any more, and opens the target
 * @param options.onProgress - called after each page of grants
 * @throws Error if the target has other data or is used, or differs from what was read
 */
export async function copyDatabase(
  source: Transfer,
  target: Transfer,
  {
    last,
    onProgress,
  }: { last: boolean; onProgress(this: void, done: number, total: number): void },
): Promise<CopyResult> {
  const run = newId(Date.now());
  const sourceMark = await checkSource(source, target);
  const mark: UseMark = { is: 'copy', from: source.name, run, last: false };
  await checkTarget(source, target).then((before) => replaceMark(target, before, mark));
  // Before the first page, so that no service starts and changes what was read already.
  const copied: UseMark = { is: 'copied', to: target.name, run };
  if (last) await replaceMark(source, sourceMark, copied);
  const activity = await source.activity();

  const total = await source.estimateGrants();
  const result = { written: 0, removed: 0 } as CopyResult;
  for (const kind of copiedKinds) {
    result[kind] = 0;
    for await (const page of mirror(kind, source, target, mark)) {
      for (const name of ['written', 'removed'] as const) result[name] += page[name];
      result[kind] += page.records;
      if (kind === 'grants') onProgress(result.grants, Math.max(total, result.grants));
    }
  }
  if (!last) return result;
  let late = 0;
  // A change that needs no read behind a fence, such as an operator's revocation, leaves no other trace.
  for (const kind of copiedKinds) {
    for await (const { written, removed } of mirror(kind, source, target, mark)) {
      late += written + removed;
    }
  }
  const isQuiet = late === 0 && (await source.activity()) === activity;
  if (!isQuiet || !isDeepStrictEqual(await source.find(), copied)) {
    throw new Error(
      `A service works on ${source.name}: what it changes would be lost. Stop every process that uses it, then repeat this. ${target.name} is closed until then.`,
    );
  }
  await replaceMark(target, mark, { ...mark, last });
  return result;
}

/** @throws Error if there is nothing to copy from */
async function checkSource(source: Transfer, target: Transfer): Promise<UseMark | null> {
  if (source.name === target.name) {
    throw new Error(`--from and --to are the same database, ${source.name}.`);
  }
  if (await isEmpty(source)) throw new Error(`${source.name} has nothing to copy. Check --from.`);
  const mark = await source.find();
  const isRepeated = mark?.is === 'copied' && mark.to === target.name;
  const why = isRepeated ? null : whyNotToUse(mark, source.name);
  if (why !== null) throw new Error(why);
  return mark;
}

/** @throws Error if the target may have a record that no copy of this source made */
async function checkTarget(source: Transfer, target: Transfer): Promise<UseMark | null> {
  const mark = await target.find();
  const refuse = (why: string) =>
    new Error(`${target.name} ${why}. Name a new or an empty database. Nothing was changed.`);
  if (mark?.is === 'used') throw refuse('is in use: a service or a command has changed it');
  if (mark?.is === 'copied') throw refuse(`was itself copied to ${mark.to}`);
  if (mark?.is === 'copy' && mark.from !== source.name) {
    throw refuse(`is a copy of another database, ${mark.from}`);
  }
  if (mark === null && !(await isEmpty(target))) throw refuse('has data of its own');
  return mark;
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
async function* mirror<Kind extends CopiedKind>(
  kind: Kind,
  source: Transfer,
  target: Transfer,
  mark: UseMark,
) {
  const key = keyOf[kind];
  for (let after: string | null = null; ; ) {
    const page: { after: string | null; limit: number } = { after, limit: PAGE };
    const both = await Promise.all([source.read(kind, page), target.read(kind, page)]);
    // Behind the end of a full page there may be more.
    const ends = both.flatMap((records) => records.slice(PAGE - 1).map(key));
    const end = ends.sort()[0];
    const within = (records: (typeof both)[0]) =>
      end === undefined ? records : records.filter((record) => key(record) <= end);
    const [wanted, found] = both.map(within) as typeof both;

    const present = new Map(found.map((record) => [key(record), record]));
    const written = wanted.filter((record) => !isDeepStrictEqual(record, present.get(key(record))));
    for (const record of wanted) present.delete(key(record));
    const removed = [...present.keys()];
    if (written.length + removed.length > 0) {
      // A slower copy must not undo what a later one has brought, nor what a service changed.
      if (!isDeepStrictEqual(await target.find(), mark)) throw interrupted(target);
      await target.write(kind, written, removed);
      if (!isDeepStrictEqual(within(await target.read(kind, page)), wanted)) {
        throw new Error(
          `The ${kind} that were copied differ from the originals. Copy again; if they differ again, do not use the target, and report it.`,
        );
      }
    }
    yield { records: wanted.length, written: written.length, removed: removed.length };
    if (end === undefined) return;
    after = end;
  }
}
