import { randomUUID } from 'node:crypto';
import type { LinkDecision } from '@latchkey/store/records';
import type { LinkHolder, Store } from '@latchkey/store/store';
import type { Filter, UpdateFilter } from 'mongodb';
import type { Database } from './database.ts';
import {
  type DecisionDocument,
  fromLinkDocument,
  type LinkDocument,
  toLinkDocument,
} from './documents/links.ts';
import { initiatorField, isSame, toDate, toHash, toId } from './documents/values.ts';
import { insertOnce } from './insert-once.ts';
import { dropPage, keepPage } from './pages.ts';
import { atRevision, retryOnConflict, revisionOf } from './retry-on-conflict.ts';
import type { ReadBack } from './uncertain-writes.ts';

type Links = Pick<Store, 'createLink' | 'findLink' | 'identifyLink' | 'switchLink' | 'decideLink'>;

const undecided = (_id: LinkDocument['_id'], now: number) =>
  ({
    _id,
    decision: { $exists: false },
    expires_at: { $gt: toDate(now) },
  }) satisfies Filter<LinkDocument>;

export function links(database: Database): Links {
  const find = (filter: Filter<LinkDocument>) =>
    database.decide(({ links, decisive }) => links.findOne(filter, decisive));

  /**
   * Changes a link request in one command, so that of two changes only one finds it as it was.
   *
   * @param readBack - decides after a lost response. `isUnchanged`: it still has the revision
   */
  const changeAt =
    (
      link: Filter<LinkDocument> & Pick<LinkDocument, '_id'>,
      update: UpdateFilter<LinkDocument>,
      readBack: (found: LinkDocument | null, isUnchanged: boolean) => ReadBack<LinkDocument | null>,
    ) =>
    (revision: number) =>
      database.write<LinkDocument | null>(({ links, decisive }) => ({
        send: (options) =>
          links.findOneAndUpdate({ ...link, ...atRevision(revision) }, update, {
            ...options,
            returnDocument: 'after',
          }),
        async readBack() {
          const found = await links.findOne({ _id: link._id }, decisive);
          return readBack(found, revisionOf(found) === revision);
        },
      }));

  return {
    async createLink(link) {
      await insertOnce(database, ({ links }) => links, toLinkDocument(link));
    },

    async findLink(link_id) {
      const document = await find({ _id: toId(link_id) });
      return document && fromLinkDocument(document);
    },

    async identifyLink({ link_id, link_hash, page, own_page, now, initiator }) {
      const kept = await keepPage(database, { ...page, initiator });
      if (kept === null) return null;
      const link = { ...undecided(toId(link_id), now), link_hash: toHash(link_hash) };
      const identifyAt = changeAt(
        link,
        {
          $set: {
            account_id: kept.account_id,
            account_revision: kept.account_revision ?? 0,
            page_id: kept._id,
            ...initiatorField('identify_initiator', initiator),
          },
          $unset: { switched: '' },
          $inc: { revision: 1 },
        },
        (found, isUnchanged) => {
          if (found === null || isSame(found.page_id, kept._id)) return { result: found };
          // Another identification may have come before or after this one.
          return isUnchanged ? 'retry' : 'unknown';
        },
      );
      // Identifying twice is rare, so the first attempt needs no read.
      const identified =
        (await identifyAt(0)) ?? (await retryOnConflict(() => find(link), identifyAt));
      // With a page of the host, it was only there for an erasure to find. It also expires, so a
      // failure here does not deny an identification that was made.
      if (identified === null || own_page) await dropPage(database, kept).catch(() => undefined);
      return identified && fromLinkDocument(identified);
    },

    async switchLink({ link_id, page_id, link_hash, now, initiator }) {
      const [page, hash] = [toId(page_id), toHash(link_hash)];
      const link = { ...undecided(toId(link_id), now), page_id: page };
      // The page stays the latest, so only the revision stops a late command.
      const switchAt = changeAt(
        link,
        {
          $set: {
            ...{ link_hash: hash, switched: true },
            ...initiatorField('switch_initiator', initiator),
          },
          $inc: { revision: 1 },
        },
        (found, isUnchanged) => {
          // Nobody knows the new link yet, so it is still the latest.
          if (found && isSame(found.link_hash, hash)) return { result: found };
          if (found === null || !isSame(found.page_id, page)) return { result: null };
          // After another switch, the browser may have the link of this one.
          return isUnchanged ? 'retry' : 'unknown';
        },
      );
      const switched = (await switchAt(1)) ?? (await retryOnConflict(() => find(link), switchAt));
      return switched && fromLinkDocument(switched);
    },

    async decideLink({ link_id, holder, account_id, decision, now, initiator }) {
      const made = toDecision(decision);
      const link = { ...undecided(toId(link_id), now), ...heldBy(holder, account_id) };
      // The same account may be identified again, so only the revision stops a late command.
      const decideAt = changeAt(
        link,
        {
          $set: {
            decision: made,
            ...(account_id !== null && { account_id: toId(account_id) }),
            ...initiatorField('decide_initiator', initiator),
          },
          ...(account_id !== null && 'link_hash' in holder && { $unset: forgottenRevision }),
        },
        (found, isUnchanged) => {
          if (found && !found.decision && isUnchanged) return 'retry';
          const isOurs = isSame(found?.decision?.decision_id, made.decision_id);
          return { result: isOurs ? found : null };
        },
      );
      const decided = await retryOnConflict(() => find(link), decideAt);
      return decided && fromLinkDocument(decided);
    },
  };
}

/**
 * The host may approve another account than the identified one. With the revision of the latter,
 * an erasure could miss the link request.
 */
const forgottenRevision = { account_revision: '' } as const;

function heldBy(holder: LinkHolder, account_id: string | null): Omit<Filter<LinkDocument>, '_id'> {
  if ('page_id' in holder) return { page_id: toId(holder.page_id) };
  const link_hash = toHash(holder.link_hash);
  if (account_id === null) return { link_hash };
  const identified = [{ account_id: { $exists: false } }, { account_id: toId(account_id) }];
  return { link_hash, $or: [...identified, { switched: true }] };
}

function toDecision({ status, decided_by, grant_id, scope }: LinkDecision): DecisionDocument {
  return {
    status,
    decided_by: toId(decided_by),
    grant_id: grant_id === null ? null : toId(grant_id),
    scope,
    decision_id: toId(randomUUID()),
  };
}
