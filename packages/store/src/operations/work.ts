import { afterChange } from '@latchkey/domain/domain-error';
import type { Adapter, Decision } from '../adapter.ts';
import {
  asIs,
  either,
  type Givens,
  greatest,
  idOf,
  isSet,
  lessThan,
  merged,
  moreThan,
  oneOf,
  unless,
  when,
} from '../condition.ts';
import {
  type Ended,
  type Ending,
  endedBy,
  unfinishedOf,
  WORK_STEPS,
  type Work,
  type WorkStep,
  withDone,
  withEnding,
  workOf,
} from '../endings.ts';
import type { Done, RevocationMark } from '../inputs.ts';
import type { RecordOf } from '../kind.ts';
import { accounts, applications, grants, keptDocuments, links, pages } from '../kinds.ts';
import { type AccountRecord, ERASED, REVOKED, type RevokedRecord } from '../records.ts';
import { revisionAfter } from './accounts.ts';
import type { ByHand } from './by-hand.ts';
import { keptAt } from './client-documents.ts';
import { revokedRecord } from './grants.ts';
import { firstOf, hasEnding, type Marking, marking } from './marking.ts';
import { MARKABLE, type MarksInside } from './marks.ts';
import { forgetting } from './names.ts';
import { revoked } from './revoked.ts';
import { byId } from './sites.ts';

/** Small enough that a step does not delay others. */
const PART = 256;

interface Parts {
  /** Tells some events of all that was acknowledged. Returns whether there may be more. */
  tell(): Promise<boolean>;
  emptyLog: ByHand['emptyLog'];
}

interface Ids {
  ids: readonly string[];
}

const idsOf = (found: readonly { id: string }[]): Ids => ({ ids: found.map(({ id }) => id) });

/** What has begun with a mark, and how it goes on. */
export function work(db: Adapter, { endedOf }: MarksInside, { tell, emptyLog }: Parts) {
  const byIds = ({ ids }: Givens<Ids>) => ({ id: oneOf(ids) });
  // A step that goes on, or arrives, after something new was made spares that.
  const ofAccount = ({ account_id, before }: Givens<Work>) => ({
    ...{ account_id, account_revision: lessThan(before) },
  });
  const ofApplication = ({ application_id, before }: Givens<Work>) => ({
    ...{ application_id, application_revocations: lessThan(before) },
  });
  const inPair = ({ application_id }: Givens<Work>) => when(application_id, { application_id });

  // Codes and grants: once redeemed, a code is a grant, and stays in the list.
  const UNREVOKED = [...MARKABLE, 'created_at', 'link_id'] as const;
  // One without a hash is not issued yet. It has no account to be spared for, unless that is erased.
  const issued = () => either<typeof grants>({ created_at: isSet }, { code_hash: isSet });
  const unrevokedOfAccount = db.list(
    grants,
    (of: Givens<Work & { is_issued: true | null }>) => [
      { ...ofAccount(of), revoked_at: null },
      inPair(of),
      when(of.is_issued, issued()),
    ],
    UNREVOKED,
    asIs,
    { index: 'unrevoked_by_account', isDecisive: true },
  );
  const unrevokedOfApplication = db.list(
    grants,
    (of: Givens<Work>) => [{ ...ofApplication(of), revoked_at: null }, issued()],
    UNREVOKED,
    asIs,
    // The oldest first: what is new is passed over once, at the end.
    { index: 'unrevoked_by_application', order: { by: ['id'] }, isDecisive: true },
  );
  const revoke = db.changeSome(
    grants,
    (of: Givens<Ids & Ended>) => ({
      where: { ...byIds(of), revoked_at: null, created_at: isSet },
      set: revoked({
        revoked_at: of.revoked_at,
        revoked_by: of.revoked_by,
        revoked_reason: of.revoked_reason,
      }),
    }),
    REVOKED,
    revokedRecord,
    { ends: true },
  );

  const removeCodes = db.removeSome(grants, (of: Givens<Ids>) => ({
    ...byIds(of),
    created_at: null,
  }));

  const listPages = db.list(pages, ofAccount, ['id', 'link_id'], asIs, {
    ...{ index: 'pages_by_account', isDecisive: true },
  });
  const removePages = db.removeSome(pages, byIds);
  const listLinks = db.list(links, ofAccount, ['id'], asIs, {
    ...{ index: 'links_by_account', isDecisive: true },
  });
  const removeLinks = db.removeSome(links, byIds);
  // What is stored later gets no body.
  const forgetMessages = forgetting(
    db,
    ({ account_id, before }: Givens<Work & { now: number }>) => ({
      ...{ names_of: account_id, account_revision: lessThan(before) },
    }),
  );

  const findTombstone = db.find(accounts, byId, ['erased_at', 'erased_until', 'endings'], asIs);
  const eraseNames = db.changeSome(
    grants,
    (of: Givens<Work & { erased_until: string | null }>) => ({
      where: [
        { ...ofAccount(of), account: isSet },
        when(of.erased_until, { id: moreThan(of.erased_until) }),
      ],
      set: { account: merged<AccountRecord>(ERASED), choice: null },
    }),
    ['id'],
    idOf,
    { index: 'grants_by_account', order: { by: ['id'] }, ends: true },
  );
  const noteProgress = db.change(
    accounts,
    (of: Givens<{ id: string; erased_at: number; erased_until: string }>) => ({
      where: { id: of.id, erased_at: of.erased_at },
      set: { erased_until: greatest<string>(of.erased_until) },
    }),
    [],
    () => true,
    { ends: true },
  );

  const findDocument = db.find(
    applications,
    byId,
    ['document_uri'],
    ({ document_uri }) => document_uri,
  );
  const removeDocument = db.removeSome(keptDocuments, keptAt);

  type Part = Partial<Omit<Done, 'isOver'>> | null;

  /** After the link requests that they are about: a repetition finds those by them. */
  async function removeWithLinks(
    found: readonly { id: string; link_id: string | null }[],
    remove: typeof removePages,
  ): Promise<number> {
    const ids = found.flatMap(({ link_id }) => link_id ?? []);
    if (ids.length > 0) await removeLinks({ ids });
    return found.length === 0 ? 0 : remove(idsOf(found));
  }

  /** Each does a part; null once it finds nothing to do. */
  const steps: Readonly<Record<WorkStep, (of: Work & { limit: number }) => Promise<Part>>> = {
    async pages(of) {
      const found = await listPages(of);
      return found.length === 0 ? null : { changed: await removeWithLinks(found, removePages) };
    },

    async messages(of) {
      const some = await forgetMessages({ ...of, now: of.at });
      return some && { changed: some.length };
    },

    async grants(of) {
      const is_issued = of.kind === 'erasure' ? null : true;
      const found = await (of.account_id === null
        ? unrevokedOfApplication(of)
        : unrevokedOfAccount({ ...of, is_issued }));
      if (found.length === 0) return null;
      const codes = found.filter(({ created_at }) => created_at === null);
      const ended = await endedOf(
        found.filter(({ created_at }) => created_at !== null),
        endedBy(of),
      );
      const revoked: RevokedRecord[] = [];
      let codes_cancelled = 0;
      try {
        for (const one of ended) revoked.push(...((await revoke(one)) ?? []));
        if (of.kind === 'erasure') codes_cancelled = await removeWithLinks(codes, removeCodes);
        else if (codes.length > 0) codes_cancelled = await removeCodes(idsOf(codes));
      } catch (error) {
        // What is done has to be counted. The next call meets the failure, if it lasts.
        if (revoked.length === 0) throw error;
      }
      return { changed: revoked.length + codes_cancelled, revoked, codes_cancelled };
    },

    // After the codes: one that is no longer pending was redeemed, so its link request names the account by now.
    async links(of) {
      const found = await listLinks(of);
      if (found.length === 0) return null;
      return { changed: await removeLinks(idsOf(found)) };
    },

    async names(of) {
      const id = of.account_id as string;
      const tombstone = await findTombstone({ id });
      // Who has put the account again has done this first.
      if (tombstone?.erased_at == null) return null;
      const { erased_at, erased_until, endings } = tombstone;
      // The later one does what this one would, and its progress is noted.
      const isOfLater = ({ kind, before }: Ending) => kind === 'erasure' && before > of.before;
      if (endings?.some(isOfLater)) return null;
      const some = await eraseNames({ ...of, erased_until });
      const last = some?.toSorted().at(-1);
      if (last !== undefined) await noteProgress({ id, erased_at, erased_until: last });
      return some && { changed: some.length };
    },

    log: async ({ account_id, before }) =>
      (await emptyLog(`${account_id} ${before}`)) ? null : { isHeld: true },

    async document(of) {
      const document_uri = await findDocument({ id: of.application_id as string });
      const changed = document_uri === null ? 0 : await removeDocument({ document_uri });
      return changed === 0 ? null : { changed };
    },

    // What is recorded has the address of the application's document.
    events: async () => ((await tell()) ? {} : null),
  };

  async function doStep(of: Work, step: WorkStep, limit: number): Promise<Done> {
    // The mark is there, so something has changed.
    const part = await afterChange(() => steps[step]({ ...of, limit }));
    return { isOver: part === null, ...{ changed: 0, revoked: [], codes_cancelled: 0 }, ...part };
  }

  const finishOfAccount = db.modify(
    accounts,
    ({ account_id }: Work) => account_id as string,
    (found, of) => finished(found, of, { revision: revisionAfter(found) }),
    { ends: true },
  );
  const finishOfApplication = db.modify(
    applications,
    ({ application_id }: Work) => application_id as string,
    (found, of) => finished(found, of, of.kind === 'deletion' ? { document_uri: null } : {}),
    { ends: true },
  );

  async function finishWork(of: Work): Promise<void> {
    await afterChange(() =>
      of.account_id === null ? finishOfApplication(of) : finishOfAccount(of),
    );
  }

  /** All but the log, since a reader may hold it for long. */
  async function doSteps(of: Work): Promise<void> {
    for (const step of WORK_STEPS[of.kind]) {
      while (step !== 'log' && !(await doStep(of, step, PART)).isOver) {
        // In parts, so that requests run in between.
      }
    }
  }

  async function finish(of: Work): Promise<void> {
    await doSteps(of);
    await finishWork(of);
  }

  const markAccount = db.modify(
    accounts,
    ({ account_id }: RevocationMark) => account_id as string,
    (found, mark): Decision<Account, Marking<Work | null>> => {
      if (!found?.account) return { result: { work: null } };
      const of = { account_id: found.id };
      return marked(found, 'revision', mark, of);
    },
    { ends: true },
  );
  const markApplication = db.modify(
    applications,
    ({ application_id }: RevocationMark) => application_id as string,
    (found, mark): Decision<Application, Marking<Work | null>> => {
      if (found === null || found.deleted_at !== null) return { result: { work: null } };
      const of = { application_id: found.id };
      return marked(found, 'revocations', { ...mark, application_id: undefined }, of);
    },
    { ends: true },
  );

  const listAccounts = db.list(
    accounts,
    (of: Givens<{ is_erased: true | null }>) => [
      { unfinished_since: isSet },
      when(of.is_erased, { erased_at: isSet }),
      unless(of.is_erased, { erased_at: null }),
    ],
    ['id', 'endings'],
    ({ id, endings }) => unfinishedOf({ endings }, { account_id: id }),
    { index: 'unfinished_accounts', order: { by: ['unfinished_since'] } },
  );
  const listApplications = db.list(
    applications,
    () => ({ unfinished_since: isSet }),
    ['id', 'endings'],
    ({ id, endings }) => unfinishedOf({ endings }, { application_id: id }),
    { index: 'unfinished_applications', order: { by: ['unfinished_since'] } },
  );

  const operations = {
    /**
     * Ends all codes and grants of an account, of an application, or of an account with an application. If a kept mark
     * has ended what its number ends, that one is returned, and nothing is written.
     *
     * @returns what is left to do: to write that down in each. Null if there is no such account or application, or if it
     *   never had the number
     */
    markRevocation: (mark: RevocationMark) =>
      marking(
        () => (mark.account_id === undefined ? markApplication(mark) : markAccount(mark)),
        finish,
      ),

    /**
     * What is unfinished, the oldest first.
     *
     * @param limit - of erased accounts, of other accounts, and of applications
     */
    async listWork(limit: number): Promise<Work[]> {
      // Erased ones apart: a reader of the log may hold many up, which would hide all others.
      const listed = await Promise.all([
        listAccounts({ limit, is_erased: true }),
        listAccounts({ limit, is_erased: null }),
        listApplications({ limit }),
      ]);
      return listed
        .flatMap((of) => of.flat().slice(0, limit))
        .sort((one, other) => one.at - other.at);
    },

    /**
     * Does a part of a step of `WORK_STEPS`. Idempotent, and right in several processes at once. A failure
     * leaves a part undone, which a repetition does, and is `outcome_unknown`.
     *
     * @param limit - the most records to change
     */
    doStep,

    /** Notes that every step is over. Idempotent. */
    finishWork,
  };
  return { operations, doSteps, finish };
}

type Account = RecordOf<typeof accounts>;
type Application = RecordOf<typeof applications>;

/**
 * @param name - of its number
 * @param of - the record
 */
function marked<Name extends string, S extends (Account | Application) & Record<Name, number>>(
  found: S,
  name: Name,
  mark: Omit<RevocationMark, 'application_id' | 'account_id'> & {
    application_id?: string | undefined;
  },
  of: Parameters<typeof workOf>[1],
): Decision<S, Marking<Work | null>> {
  const current: number = found[name];
  const { now, initiator, before = current + 1, ifKnown = false, application_id } = mark;
  if (ifKnown && before > current) return { result: { work: null } };
  // A number that rises for a repetition makes those of later marks known.
  const former = found.endings?.find(
    (one) =>
      one.kind === 'revocation' &&
      one.before >= before &&
      (one.application_id ?? application_id) === application_id,
  );
  if (former) return { result: { work: workOf(former, of) } };
  const ending: Ending = {
    ...{ kind: 'revocation', before, at: now, by: initiator },
    ...(application_id !== undefined && { application_id }),
  };
  const marks = withEnding(found, ending);
  if (marks === null) return { result: { first: firstOf(found, of) } };
  return {
    result: { work: workOf(ending, of) },
    put: { [name]: Math.max(current + 1, before), ...marks } as Partial<S>,
    isMade: (later) => hasEnding(later, ending),
  };
}

function finished<S extends Account | Application>(
  found: S | null,
  of: Work,
  others: Partial<S>,
): Decision<S, void> {
  const marks = withDone(found, of);
  if (found === null || marks === null) return { result: undefined };
  return {
    result: undefined,
    put: { ...others, ...marks },
    isMade: (later) => withDone(later, of) === null,
  };
}
