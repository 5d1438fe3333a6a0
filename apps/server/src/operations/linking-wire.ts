import type { Connection } from '@latchkey/rules/connections/list-connections';
import { describeRedirect } from '@latchkey/rules/linking/describe-redirect';
import type { DescribedRequest } from '@latchkey/rules/linking/describe-scopes';
import type { LinkAccess } from '@latchkey/rules/linking/link-access';
import type { NewPage } from '@latchkey/rules/linking/page-session';
import type { Vouchers } from '@latchkey/rules/vouchers';
import {
  type CompleteList,
  type Connection as ConnectionObject,
  formatTimestamp,
  type LinkRequest,
  type Page,
  type Resource,
  type Scope,
  uuidV7Time,
} from '@latchkey/schema';
import type { ResourceRecord, ScopeRecord } from '@latchkey/store/records';
import { timestampOrNull, toApplicationProfile } from './wire.ts';

export function toCompleteList<Item>(data: Item[]): CompleteList<Item> {
  return { object: 'list', data, next_cursor: null };
}

export function toScope({ scope, title, description, texts, sensitive }: ScopeRecord): Scope {
  return { object: 'scope', scope, title, description, texts, sensitive };
}

export function toResource(record: ResourceRecord): Resource {
  const { id, resource, name, scopes, default_scopes } = record;
  const created_at = formatTimestamp(record.created_at);
  return { object: 'resource', id, resource, name, scopes, default_scopes, created_at };
}

export function toConnection(connection: Connection): ConnectionObject {
  return {
    object: 'connection',
    application: toApplicationProfile(connection.application),
    scopes: connection.scopes.map(toScope),
    choices: connection.choices,
    connected_at: formatTimestamp(connection.connected_at),
    last_used_at: timestampOrNull(connection.last_used_at),
    grants: connection.grants.map(({ grant_id, created_at, scope, choice }) => ({
      grant_id,
      created_at: formatTimestamp(created_at),
      scope,
      choice,
    })),
    grants_total: connection.grants_total,
  };
}

export function toPage({ page, url }: NewPage): Page {
  return {
    object: 'page',
    id: page.id,
    page: 'connections',
    account_id: page.account_id,
    url,
    expires_at: formatTimestamp(page.ticket_expires_at),
  };
}

export function toLinkRequest(
  { link, application, resource }: Pick<LinkAccess, 'link' | 'application' | 'resource'>,
  { scopes, optional_scopes }: DescribedRequest,
  vouchers: Vouchers,
): LinkRequest {
  const { voucher, redirect_uri } = vouchers.ofRedirectUri(link);
  return {
    object: 'link_request',
    id: link.id,
    status: link.decision?.status ?? (link.account_id === null ? 'open' : 'identified'),
    application: {
      ...toApplicationProfile(vouchers.show(application)),
      public: application.public,
    },
    resource: resource && { object: 'resource', ...resource },
    scope: link.scope,
    scopes: scopes.map(toScope),
    optional_scope: link.optional_scope,
    optional_scopes: optional_scopes.map(toScope),
    choice: link.decision?.choice ?? null,
    ...describeRedirect(redirect_uri),
    redirect_vouched: voucher === 'operator',
    account_id: link.account_id,
    login_hint: link.login_hint,
    ui_locales: link.ui_locales,
    // The service made this id, so it is a UUIDv7.
    created_at: formatTimestamp(uuidV7Time(link.id) as number),
    expires_at: formatTimestamp(link.expires_at),
    grant_id: link.decision?.grant_id ?? null,
  };
}
