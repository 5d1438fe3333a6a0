import type { DatabaseSync } from 'node:sqlite';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { LinkRecord } from '@latchkey/store/records';
import type { Change, Identification, LinkSwitch, NewDecision } from '@latchkey/store/store';
import type { preparePages } from './pages.ts';
import { bytesOrNull, idOrNull, initiatorText } from './rows.ts';

type LinkRow = Omit<
  LinkRecord,
  | 'id'
  | 'application_id'
  | 'document'
  | 'redirect_uri_given'
  | 'resource'
  | 'account_id'
  | 'page_id'
  | 'switched'
  | 'decision'
> & {
  resource: string | null;
  document: string | null;
  id: Uint8Array;
  application_id: Uint8Array | null;
  redirect_uri_given: number;
  account_id: Uint8Array | null;
  page_id: Uint8Array | null;
  switched: number;
  status: 'approved' | 'denied' | null;
  decided_by: Uint8Array;
  grant_id: Uint8Array | null;
  granted_scope: string | null;
};

const UNDECIDED = 'id = :id AND status IS NULL AND expires_at > :now';

export function prepareLinks(database: DatabaseSync, pages: ReturnType<typeof preparePages>) {
  const insert = database.prepare(`
    INSERT INTO links (id, link_hash, application_id, document, redirect_uri, redirect_uri_given, resource, scope, state,
      code_challenge, login_hint, ui_locales, salt, generation, description_hash, expires_at,
      begin_initiator)
    VALUES (:id, :link_hash, :application_id, :document, :redirect_uri, :redirect_uri_given, :resource, :scope, :state,
      :code_challenge, :login_hint, :ui_locales, :salt, :generation, :description_hash, :expires_at,
      :initiator)`);
  const find = database.prepare('SELECT * FROM links WHERE id = :id');
  const identify = database.prepare(`
    UPDATE links SET account_id = :account_id, page_id = :page_id, switched = 0,
      identify_initiator = :initiator
    WHERE ${UNDECIDED} AND link_hash = :link_hash
      AND EXISTS (SELECT 1 FROM accounts WHERE id = :account_id)
    RETURNING *`);
  const replaceLink = database.prepare(`
    UPDATE links SET link_hash = :link_hash, switched = 1, switch_initiator = :initiator
    WHERE ${UNDECIDED} AND page_id = :page_id
    RETURNING *`);
  const decideBy = (holder: string) =>
    database.prepare(`
      UPDATE links SET account_id = coalesce(:account_id, account_id), status = :status,
        decided_by = :decided_by, grant_id = :grant_id, granted_scope = :scope,
        decide_initiator = :initiator
      WHERE ${UNDECIDED} AND ${holder}
      RETURNING *`);
  const decideByLink = decideBy(`
    link_hash = :holder AND (switched OR coalesce(:account_id = account_id, TRUE))`);
  const decideByPage = decideBy('page_id = :holder');

  return {
    createLink(link: LinkRecord & Change): void {
      insert.run({
        id: uuidToBytes(link.id),
        link_hash: link.link_hash,
        application_id: bytesOrNull(link.application_id),
        document: link.document && JSON.stringify(link.document),
        redirect_uri: link.redirect_uri,
        redirect_uri_given: Number(link.redirect_uri_given),
        resource: link.resource && JSON.stringify(link.resource),
        scope: link.scope,
        state: link.state,
        code_challenge: link.code_challenge,
        login_hint: link.login_hint,
        ui_locales: link.ui_locales,
        salt: link.salt,
        generation: link.generation,
        description_hash: link.description_hash,
        expires_at: link.expires_at,
        initiator: initiatorText(link.initiator),
      });
    },

    findLink(link_id: string): LinkRecord | null {
      return recordOrNull(find.get({ id: uuidToBytes(link_id) }));
    },

    identifyLink({
      link_id,
      link_hash,
      page,
      own_page,
      now,
      initiator,
    }: Identification): LinkRecord | null {
      const link = recordOrNull(
        identify.get({
          id: uuidToBytes(link_id),
          account_id: uuidToBytes(page.account_id),
          page_id: uuidToBytes(page.id),
          ...{ link_hash, now },
          initiator: initiatorText(initiator),
        }),
      );
      if (link && !own_page) pages.createPage({ ...page, initiator });
      return link;
    },

    switchLink({ link_id, page_id, link_hash, now, initiator }: LinkSwitch): LinkRecord | null {
      return recordOrNull(
        replaceLink.get({
          id: uuidToBytes(link_id),
          page_id: uuidToBytes(page_id),
          ...{ link_hash, now },
          initiator: initiatorText(initiator),
        }),
      );
    },

    decideLink({ link_id, holder, account_id, decision, now, initiator }: NewDecision) {
      const [decide, held] =
        'link_hash' in holder
          ? [decideByLink, holder.link_hash]
          : [decideByPage, uuidToBytes(holder.page_id)];
      return recordOrNull(
        decide.get({
          id: uuidToBytes(link_id),
          holder: held,
          account_id: bytesOrNull(account_id),
          status: decision.status,
          decided_by: uuidToBytes(decision.decided_by),
          grant_id: bytesOrNull(decision.grant_id),
          scope: decision.scope,
          now,
          initiator: initiatorText(initiator),
        }),
      );
    },
  };
}

function recordOrNull(found: unknown): LinkRecord | null {
  if (found === undefined) return null;
  const row = found as LinkRow;
  return {
    id: uuidFromBytes(row.id),
    link_hash: row.link_hash,
    application_id: idOrNull(row.application_id),
    document: row.document === null ? null : JSON.parse(row.document),
    redirect_uri: row.redirect_uri,
    redirect_uri_given: row.redirect_uri_given === 1,
    resource: row.resource === null ? null : JSON.parse(row.resource),
    scope: row.scope,
    state: row.state,
    code_challenge: row.code_challenge,
    login_hint: row.login_hint,
    ui_locales: row.ui_locales,
    salt: row.salt,
    generation: row.generation,
    description_hash: row.description_hash,
    expires_at: row.expires_at,
    account_id: idOrNull(row.account_id),
    page_id: idOrNull(row.page_id),
    switched: row.switched === 1,
    decision:
      row.status === null
        ? null
        : {
            status: row.status,
            decided_by: uuidFromBytes(row.decided_by),
            grant_id: idOrNull(row.grant_id),
            scope: row.granted_scope,
          },
  };
}
