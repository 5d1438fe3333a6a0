import type { Milliseconds } from '@latchkey/domain/clock';
import type { RecordOf } from './kind.ts';
import type { accounts, applications, grants } from './kinds.ts';
import {
  type DeletionRecord,
  type Ending,
  ERASED,
  type GrantHistory,
  type Work,
  type WorkKind,
} from './records.ts';

// Marks order by numbers, never by times: see decision 87.

export type { Ending, Work, WorkKind } from './records.ts';

export const workKinds = ['erasure', 'deletion', 'revocation'] as const satisfies WorkKind[];

/** The steps of each kind, in their order. Each may be repeated, and run in several processes at once. */
export const WORK_STEPS = {
  erasure: ['pages', 'messages', 'grants', 'links', 'names', 'log'],
  deletion: ['grants', 'document', 'events'],
  revocation: ['grants'],
} as const satisfies Readonly<Record<WorkKind, readonly string[]>>;

export type WorkStep = (typeof WORK_STEPS)[WorkKind][number];

type Stored = RecordOf<typeof grants>;

/** What a code and a grant carry from the issue of the code. */
export const NUMBERS = ['account_revision', 'application_revocations'] as const;

type Numbered = Pick<Stored, 'application_id' | (typeof NUMBERS)[number]>;
export type Marked = Pick<RecordOf<typeof accounts | typeof applications>, 'endings'> | null;

export type Ended = Pick<GrantHistory, 'revoked_by' | 'revoked_reason'> & {
  revoked_at: Milliseconds;
};

const reasons = {
  erasure: 'account_erased',
  deletion: 'application_deleted',
  revocation: null,
} as const;

/** What a grant has that such an ending, or work, has ended. */
export const endedBy = ({ at, by, kind }: Pick<Ending, 'at' | 'by' | 'kind'>): Ended => ({
  ...{ revoked_at: at, revoked_by: by, revoked_reason: reasons[kind] },
});

const isOf =
  ({ application_id, account_revision }: Numbered) =>
  (ending: Ending): boolean =>
    account_revision < ending.before &&
    (ending.application_id ?? application_id) === application_id;

/**
 * How a mark has ended a code or a grant, whether that is written down in it or not; null if none has.
 *
 * @param account - as it is now; null if there is none, like the application
 */
export function endingOf(grant: Numbered, account: Marked, application: Marked): Ended | null {
  const ofAccount = account?.endings?.find(isOf(grant));
  const ofApplication = application?.endings?.find(
    ({ before }) => grant.application_revocations < before,
  );
  const first =
    ofAccount && ofApplication && ofApplication.at < ofAccount.at
      ? ofApplication
      : (ofAccount ?? ofApplication);
  return first === undefined ? null : endedBy(first);
}

/** Whether an erasure is to take the names out of a grant. */
const isErased = (grant: Numbered, account: Marked): boolean =>
  account?.endings?.some((ending) => ending.kind === 'erasure' && isOf(grant)(ending)) ?? false;

/** As a reader is shown it: ended, and without names, as soon as the mark is there. */
export function asEnded<
  Grant extends Numbered & Pick<Stored, 'revoked_at'> & Partial<Pick<Stored, 'account' | 'choice'>>,
>(grant: Grant, account: Marked, application: Marked): Grant {
  const ended = grant.revoked_at === null ? endingOf(grant, account, application) : null;
  const shown = ended === null ? grant : { ...grant, ...ended };
  if (!isErased(grant, account)) return shown;
  return {
    ...shown,
    ...(shown.account && { account: { ...shown.account, ...ERASED } }),
    ...('choice' in shown && { choice: null }),
  };
}

/** More are not kept, since each authentication reads them. */
export const ENDINGS_KEPT = 8;

interface Marks {
  endings: readonly Ending[];
  unfinished_since: Milliseconds | null;
}

const marksOf = (endings: readonly Ending[]): Marks => ({
  endings,
  unfinished_since: endings.find(({ is_done }) => !is_done)?.at ?? null,
});

/** With one more ending; null if there is no room before one of the others is done. */
export function withEnding(marked: Marked, ending: Ending): Marks | null {
  const all = [...(marked?.endings ?? []), ending];
  if (all.length <= ENDINGS_KEPT) return marksOf(all);
  const oldest = all.findIndex(({ is_done }) => is_done);
  return oldest === -1 ? null : marksOf(all.toSpliced(oldest, 1));
}

/** Null if nothing of it is unfinished. */
export function withDone(marked: Marked, work: Work): Marks | null {
  const { kind, before } = work;
  // The lesser ones end what this one ends.
  const isDone = (one: Ending) =>
    !one.is_done &&
    one.before <= before &&
    (one.kind === kind || one.kind === 'revocation') &&
    (isOfAll(work) || one.application_id === work.application_id);
  const endings = marked?.endings ?? [];
  if (!endings.some(isDone)) return null;
  return marksOf(endings.map((one) => (isDone(one) ? { ...one, is_done: true as const } : one)));
}

/** Whether it is of all that the record with the mark has. */
const isOfAll = ({ account_id, application_id }: Work) =>
  account_id === null || application_id === null;

/** @param of - the record with the mark */
export const workOf = (
  { application_id, ...ending }: Ending,
  of: { account_id: string } | { application_id: string },
): Work => ({
  ...{ ...ending, account_id: null, application_id: application_id ?? null },
  ...of,
});

/** What is left to do at each record. */
export const unfinishedOf = (marked: Marked, of: Parameters<typeof workOf>[1]): Work[] =>
  (marked?.endings ?? []).filter(({ is_done }) => !is_done).map((ending) => workOf(ending, of));

/** @param revocations - of the application before its deletion */
export const deletionWork = (
  { application_id, deleted_at, deleted_by }: DeletionRecord,
  revocations: number,
): Work => ({
  ...{ kind: 'deletion', account_id: null, application_id },
  ...{ before: revocations + 1, at: deleted_at, by: deleted_by },
});
