import type { Milliseconds } from '@latchkey/domain/clock';
import type { Initiator } from '@latchkey/domain/initiator';
import { findConnectedApplication } from '@latchkey/rules/connections/find-connected-application';
import { findEndedConnection } from '@latchkey/rules/connections/find-ended-connection';
import {
  type ConnectionPage,
  type ConnectionPlace,
  listConnections,
} from '@latchkey/rules/connections/list-connections';
import { revokeAll } from '@latchkey/rules/grants/revoke-all';
import { listAlreadyAllowed } from '@latchkey/rules/linking/already-allowed';
import { beginLink, type UnconfirmedRequest } from '@latchkey/rules/linking/begin-link';
import { chosenOf } from '@latchkey/rules/linking/choice';
import {
  approve,
  type Decided,
  deny,
  findAnswer,
  scopeWithChecked,
} from '@latchkey/rules/linking/decide';
import { type DescribedRequest, describeRequest } from '@latchkey/rules/linking/describe-scopes';
import {
  type LinkAccess,
  type ReturnToStranger,
  refuseDecided,
  refuseExpired,
} from '@latchkey/rules/linking/link-access';
import { linkingOf } from '@latchkey/rules/linking/linking';
import type { LinkingApplication } from '@latchkey/rules/linking/linking-application';
import {
  type OpenedPage,
  openPage,
  type PageAddress,
  type PageSession,
} from '@latchkey/rules/linking/page-session';
import {
  type Location,
  locationOfAnswer,
  type ReturnAddress,
} from '@latchkey/rules/linking/redirect';
import { switchAccount } from '@latchkey/rules/linking/switch-account';
import type { Service } from '@latchkey/rules/service';
import type {
  AccountRecord,
  ApplicationRecord,
  LinkRecord,
  PageRecord,
} from '@latchkey/store/records';
import type { Action, CountsAgainst, IdPaths } from './action.ts';
import type { AnyCaller, Callers, Visitor } from './caller.ts';
import { noteMark } from './note-mark.ts';

export interface Redirect {
  redirect_to: Location;
  /** Once the user has decided. */
  page_expires_at?: Milliseconds;
}

export interface ConsentView extends PageSession {
  access: LinkAccess<{ page_id: string }>;
  asked: DescribedRequest;
  /** Null until the page has decided. */
  end: LinkEnd | null;
}

/** The end of a link request. */
export interface LinkEnd {
  link: LinkRecord;
  /** Null where only a stranger's redirect URI is known. */
  application: LinkingApplication | null;
  /** Null once the answer leads nowhere any more. */
  answer: ReturnAddress | null;
  /** Of the browser that has its page; null in any other. */
  page: PageRecord | null;
  account: AccountRecord | null;
}

export interface EndView {
  link_id: string;
  /** Null for a link request that is undecided. */
  end: LinkEnd | null;
}

/** `docs/protocol/limits.md` has it. */
export const SHOWN_CONNECTIONS = 50;

export interface ConnectionsView extends PageSession {
  list: ConnectionPage;
  /** What the user has just disconnected. */
  ended: ApplicationRecord | null;
}

export interface DisconnectView extends PageSession {
  application: ApplicationRecord | null;
}

/** What is checked on the consent page. */
export interface Checked {
  /** In any order. */
  optional_scope: readonly string[];
  /** Each id that the form has: a browser sends one at most. */
  choice: readonly string[];
}

export interface PageOpening {
  address: PageAddress;
  ticket: string;
  session: string | null;
}

interface BrowserAction<Output extends object, Input extends object, By extends AnyCaller>
  extends Pick<Action<Output, Input, By>, 'name' | 'caller' | 'changes' | 'handle'> {
  counts?: CountsAgainst;
  ids: IdPaths<Input, Output>;
}

// A browser sends no members: `readInput` of its route makes the input.
const action = <Output extends object, Input extends object, By extends AnyCaller>(
  columns: BrowserAction<Output, Input, By>,
): Action<Output, Input, By> => ({
  counts: 'nothing',
  audited: 'always',
  input: null,
  ...columns,
});

type User = Callers['user'];

const NOTHING_ASKED = { scopes: [], optional_scopes: [], allowed_scopes: [] };

const nobody = { page: null, account: null, access: null };

/** Called like operations, so the log, the audit, the limits and the traces have them too. */
export const browserActions = {
  begin: action({
    name: 'links.begin',
    caller: 'visitor',
    changes: true,
    counts: 'links',
    ids: { application_id: 'input.application.id', link_id: 'output.link_id' },
    async handle(service, request: UnconfirmedRequest, _visitor: Visitor, initiator) {
      const { link, redirect_to } = await beginLink(service, request, initiator);
      return { redirect_to, link_id: link.id };
    },
  }),

  openPage: action({
    name: 'pages.open',
    caller: 'visitor',
    changes: true,
    ids: {},
    handle(service, asked: PageOpening, _visitor: Visitor, initiator): Promise<OpenedPage> {
      const { address, ticket, session } = asked;
      return openPage(service, address, ticket, session, initiator);
    },
  }),

  showConsent: action({
    name: 'pages.open',
    caller: 'user',
    changes: false,
    ids: {},
    async handle(service, _input: object, user: User, initiator): Promise<ConsentView> {
      const access = accessOf(user);
      const end = await readEnd(service, user, initiator);
      if (end !== null) return { ...user, access, asked: NOTHING_ASKED, end };
      refuseExpired(service, access.link, initiator);
      // First: it may wait for its turn, and the texts of scopes may be megabytes.
      const allowed = await listAlreadyAllowed(service, access, user.page.account_id);
      return {
        ...user,
        access,
        asked: await describeRequest(service.store, access.link, allowed),
        end,
      };
    },
  }),

  showEnd: action({
    name: 'pages.done',
    caller: 'user',
    changes: false,
    ids: { link_id: 'output.link_id' },
    async handle(
      service,
      { returns }: { returns: ReturnToStranger | null },
      caller: User | Visitor,
      initiator,
    ): Promise<EndView> {
      const { page, account, access } = caller.kind === 'user' ? caller : nobody;
      if (returns !== null) {
        const { link, address } = returns;
        return {
          link_id: link.id,
          end: { link, application: null, answer: address, page, account },
        };
      }
      const { link } = accessOf({ access });
      return { link_id: link.id, end: await readEnd(service, caller as User, initiator) };
    },
  }),

  // Allow, Deny and Disconnect have the names of the operator's operations that do the same. In the
  // audit, `by` tells them apart.
  allow: action({
    name: 'admin.links.approve',
    caller: 'user',
    changes: true,
    // An application with a document gets its id by its first approval.
    ids: { grant_id: 'output.grant_id', application_id: 'output.application.id' },
    async handle(service, { optional_scope, choice: given }: Checked, user: User, initiator) {
      const { account_id } = user.page;
      const access = accessOf(user);
      const scope = scopeWithChecked(access.link, optional_scope);
      const choice = chosenOf(user.page.choice, given);
      const decided = await approve(service, access, { account_id, scope, choice }, initiator);
      const { link, application } = decided;
      const grant_id = link.decision?.grant_id ?? null;
      const { id } = application;
      return { ...answerOf(service, decided, user), grant_id, application: { id } };
    },
  }),

  deny: action({
    name: 'admin.links.deny',
    caller: 'user',
    changes: true,
    ids: {},
    async handle(service, _input: object, user: User, initiator): Promise<Redirect> {
      return answerOf(service, await deny(service, accessOf(user), initiator), user);
    },
  }),

  switchAccount: action({
    name: 'links.switch',
    caller: 'user',
    counts: 'pages',
    changes: true,
    ids: {},
    handle(service, _input: object, user: User, initiator): Promise<Redirect> {
      return switchAccount(service, accessOf(user), initiator);
    },
  }),

  showConnections: action({
    name: 'pages.open',
    caller: 'user',
    counts: 'pages',
    changes: false,
    ids: {},
    async handle(
      service,
      { done, after }: { done: string | null; after: ConnectionPlace | null },
      user: User,
    ): Promise<ConnectionsView> {
      const { account_id } = user.page;
      // Whoever has many pages of an account makes nobody else wait.
      const asked = { account_id, limit: SHOWN_CONNECTIONS, inTurn: true };
      let list = await listConnections(service, { ...asked, after });
      // The rest may have ended.
      if (after !== null && list.connections.length === 0) {
        list = await listConnections(service, { ...asked, after: null });
      }
      const ended =
        done === null
          ? null
          : await findEndedConnection(service, { account_id, application_id: done });
      return { ...user, list, ended };
    },
  }),

  showDisconnect: action({
    name: 'pages.open',
    caller: 'user',
    counts: 'pages',
    changes: false,
    ids: { application_id: 'input.application_id' },
    async handle(
      service,
      { application_id }: { application_id: string | null },
      user: User,
    ): Promise<DisconnectView> {
      const { account_id } = user.page;
      const application =
        application_id === null
          ? null
          : await findConnectedApplication(service, { account_id, application_id });
      return { ...user, application };
    },
  }),

  disconnect: action({
    name: 'admin.connections.revoke',
    caller: 'user',
    counts: 'pages',
    changes: true,
    ids: { application_id: 'input.application_id' },
    async handle(service, asked: { application_id: string }, { page }: User, initiator, { ids }) {
      const { application_id } = asked;
      const connection = { account_id: page.account_id, application_id };
      noteMark(ids, await revokeAll(service, connection, initiator));
      return { application_id };
    },
  }),
};

const answerOf = (service: Service, { link, redirect_to }: Decided, { page }: User) => ({
  redirect_to: locationOfAnswer(linkingOf(service), link, redirect_to),
  page_expires_at: page.expires_at,
});

/** Null for an undecided link request. */
async function readEnd(
  service: Service,
  { page, account, access }: PageSession,
  initiator: Initiator,
): Promise<LinkEnd | null> {
  const own = accessOf({ access });
  const { link, application, decided_by } = own;
  if (link.decision === null) return null;
  if (link.decision.decided_by !== decided_by) refuseDecided(link);
  const answer = await findAnswer(service, own, initiator);
  return { link, application, answer, page, account };
}

function accessOf({ access }: Pick<PageSession, 'access'>): LinkAccess<{ page_id: string }> {
  if (access === null) throw new Error('This page has no link request.');
  return access;
}
