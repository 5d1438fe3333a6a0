import type { Initiator } from '@latchkey/domain/initiator';
import type { Adapter } from '../adapter.ts';
import { either, type Given, type Givens, moreThan, orKept, when } from '../condition.ts';
import type { Change, Identification, LinkSwitch, NewDecision } from '../inputs.ts';
import { type ShownOf, shownFields } from '../kind.ts';
import { accounts, links as kind, pages } from '../kinds.ts';
import type { LinkDecision, LinkRecord } from '../records.ts';
import { PAGE_OF_ACCOUNT } from './held.ts';
import { byId } from './sites.ts';

const LINK = shownFields(kind);

type Found = ShownOf<typeof kind>;

interface Identified extends Omit<Identification, 'page'> {
  account_id: string;
  account_revision: number;
  page_id: string;
}

interface Decided extends Omit<LinkDecision, 'at'> {
  link_id: string;
  link_hash: Uint8Array | null;
  page_id: string | null;
  account_id: string | null;
  account_revision: number | null;
  now: number;
  initiator: Initiator;
}

const undecided = ({ link_id, now }: { link_id: Given<string>; now: Given<number> }) => ({
  id: link_id,
  status: null,
  expires_at: moreThan(now),
});

/** Each is deleted `LINKS_KEPT` after it expires. */
export function links(db: Adapter) {
  const create = db.insertOnce(kind);
  const find = db.joined(
    kind,
    byId,
    LINK,
    { account: { kind: accounts, by: 'account_id', fields: ['erased_at'] } },
    // An erasure may not have come to it yet.
    ({ account, ...link }) => (account?.erased_at == null ? linkOf(link) : null),
  );
  const decide = db.change(
    kind,
    (link: Givens<Decided>) => ({
      where: [
        undecided(link),
        when(link.page_id, { page_id: link.page_id }),
        when(link.link_hash, [
          { link_hash: link.link_hash },
          when(
            link.account_id,
            either({ account_id: null }, { account_id: link.account_id }, { switched: true }),
          ),
        ]),
      ],
      set: {
        status: link.status,
        decided_by: link.decided_by,
        grant_id: link.grant_id,
        granted_scope: link.scope,
        choice: link.choice,
        decided_at: link.now,
        account_id: orKept(link.account_id),
        account_revision: orKept(link.account_revision),
        decide_initiator: link.initiator,
      },
    }),
    LINK,
    linkOf,
    { isExact: true },
  );

  return {
    /** Creates an open link request. After `outcome_unknown` it may exist, which does no harm. */
    createLink: ({ initiator, decision: _, ...link }: LinkRecord & Change) =>
      create({ ...link, begin_initiator: initiator }),

    findLink: (id: string) => find({ id }),

    /**
     * If the account exists, the link is the latest, the request is undecided and `now` is before its
     * expiry: creates the page, makes it the latest, makes its account the identified one, and removes
     * the mark of a switch.
     *
     * @returns the link request; null if nothing was changed, and the page is not kept
     */
    identifyLink: db.sequence((steps) => {
      const keep = steps.insertHeld(pages, PAGE_OF_ACCOUNT);
      const identify = steps.change(
        kind,
        (link: Givens<Identified>) => ({
          where: { ...undecided(link), link_hash: link.link_hash },
          set: {
            account_id: link.account_id,
            account_revision: link.account_revision,
            page_id: link.page_id,
            switched: false,
            identify_initiator: link.initiator,
          },
        }),
        LINK,
        linkOf,
      );
      const drop = steps.remove(pages, byId);
      return function* ({ page, ...link }: Identification) {
        const { id } = page;
        const kept = yield* keep({ ...page, create_initiator: link.initiator });
        if (kept === null) return null;
        const { account_id, account_revision } = kept;
        const identified = yield* identify({ ...link, account_id, account_revision, page_id: id });
        // A page of the host's own is only there for an erasure to find.
        if (identified === null || link.own_page) yield* drop({ id });
        return identified;
      };
    }),

    /**
     * Replaces the link, and marks the request as switched, if the page is the latest of its link
     * request, the request is undecided and `now` is before its expiry; otherwise null. The former link
     * is void. The page stays the latest until the host identifies an account: a second click replaces
     * the link again, and a user who goes back can still decide.
     */
    switchLink: db.change(
      kind,
      (link: Givens<LinkSwitch>) => ({
        where: { ...undecided(link), page_id: link.page_id },
        set: { link_hash: link.link_hash, switched: true, switch_initiator: link.initiator },
      }),
      LINK,
      linkOf,
    ),

    /**
     * Decides a link request, if the holder's link or page is the latest, the request is undecided,
     * `now` is before its expiry, and the account is the identified one, if there is one and the request
     * is not switched. Of concurrent decisions exactly one is made; the others receive null.
     */
    decideLink({ holder, decision, ...link }: NewDecision): Promise<LinkRecord | null> {
      // The host may approve another account than the identified one, whose revision says nothing of that.
      const account_revision = 'link_hash' in holder && link.account_id !== null ? 0 : null;
      const held = { link_hash: null, page_id: null, ...holder };
      return decide({ ...link, ...held, ...decision, account_revision });
    },
  };
}

function linkOf({
  status,
  decided_by,
  grant_id,
  granted_scope,
  choice,
  decided_at,
  ...link
}: Found): LinkRecord {
  if (status === null || decided_by === null || decided_at === null)
    return { ...link, decision: null };
  return {
    ...link,
    decision: { status, decided_by, grant_id, scope: granted_scope, choice, at: decided_at },
  };
}
