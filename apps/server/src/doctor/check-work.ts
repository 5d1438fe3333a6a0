import type { Milliseconds } from '@latchkey/domain/clock';
import type { Service } from '@latchkey/rules/service';
import type { Work } from '@latchkey/store/endings';
import { type Finding, ok, problem } from '@latchkey/store/finding';

/** As of the alert. A million grants take minutes. */
const LATE: Milliseconds = 3_600_000;

const LISTED_AT_MOST = 1_000;
const MOST_NAMED = 3;

export async function* checkWork({
  store,
  clock,
}: Pick<Service, 'store' | 'clock'>): AsyncGenerator<Finding> {
  const now = clock();
  const works = await store.listWork(LISTED_AT_MOST);
  const late = works.filter(({ at }) => now - at > LATE);
  const young = works.filter(({ at }) => now - at <= LATE);
  if (late.length > 0) {
    yield problem(
      'work',
      `Not finished within an hour: ${named(late, now)}.`,
      'See whether a service runs on this database, and what its log says. On SQLite, a reader that never ends, such as a replicator, holds an erasure up.',
    );
  }
  if (young.length > 0) yield ok('work', `Not finished yet: ${named(young, now)}.`);
  if (works.length === 0) yield ok('work', 'No erasure, deletion or revocation is unfinished.');
}

function named(works: readonly Work[], now: Milliseconds): string {
  const first = works.slice(0, MOST_NAMED).map((work) => describe(work, now));
  return [...first, ...(works.length > MOST_NAMED ? [`${works.length} in all`] : [])].join(', ');
}

function describe({ kind, account_id, application_id, at }: Work, now: Milliseconds): string {
  const of = [
    ...(account_id === null ? [] : [`account ${account_id}`]),
    ...(application_id === null ? [] : [`application ${application_id}`]),
  ];
  const seconds = Math.max(Math.floor((now - at) / 1000), 0);
  return `${kind} of ${of.join(', ')} (${seconds} s)`;
}
