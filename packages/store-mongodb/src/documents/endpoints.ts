import type { EndpointRecord } from '@latchkey/store/records';
import type { Binary, UpdateFilter } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import { fromId, isSame, toDate, toId } from './values.ts';

/** What is null in the record is absent, but `types`. */
export interface EndpointItem {
  id: Binary;
  url: string;
  types: EndpointRecord['types'];
  disabled_reason?: EndpointRecord['disabled_reason'] & string;
  created_at: Date;
  secret_version: number;
  overlap_until?: Date;
  /** Changes without a new revision while the endpoint works. */
  last_success_at?: Date;
  failing_since?: Date;
  failures: number;
}

/** All endpoints of an application, or of the host, so that no race exceeds their number. */
export interface EndpointsDocument extends Versioned {
  /** The id of the application, or {@link HOST}. */
  _id: Binary;
  endpoints: EndpointItem[];
}

/** The owner of the host's endpoints. No id is less. */
export const HOST = toId('00000000-0000-0000-0000-000000000000');

export const toOwner = (application_id: string | null) =>
  application_id === null ? HOST : toId(application_id);

export const fromOwner = (owner: Binary) => (isSame(owner, HOST) ? null : fromId(owner));

export function toEndpointItem(endpoint: EndpointRecord): EndpointItem {
  const { disabled_reason, overlap_until, last_success_at, failing_since } = endpoint;
  return {
    id: toId(endpoint.id),
    url: endpoint.url,
    types: endpoint.types,
    ...(disabled_reason !== null && { disabled_reason }),
    created_at: toDate(endpoint.created_at),
    secret_version: endpoint.secret_version,
    ...(overlap_until !== null && { overlap_until: toDate(overlap_until) }),
    ...(last_success_at !== null && { last_success_at: toDate(last_success_at) }),
    ...(failing_since !== null && { failing_since: toDate(failing_since) }),
    failures: endpoint.failures,
  };
}

export function fromEndpointItem(owner: Binary, item: EndpointItem): EndpointRecord {
  return {
    id: fromId(item.id),
    application_id: fromOwner(owner),
    url: item.url,
    types: item.types,
    disabled_reason: item.disabled_reason ?? null,
    created_at: item.created_at.getTime(),
    secret_version: item.secret_version,
    overlap_until: item.overlap_until?.getTime() ?? null,
    last_success_at: item.last_success_at?.getTime() ?? null,
    failing_since: item.failing_since?.getTime() ?? null,
    failures: item.failures,
  };
}

export const fromEndpointsDocument = ({ _id, endpoints }: EndpointsDocument): EndpointRecord[] =>
  endpoints.map((item) => fromEndpointItem(_id, item));

/** Sets these members of the endpoint that the filter names. */
export function itemUpdate(
  after: EndpointRecord,
  names: readonly (keyof EndpointItem)[],
): UpdateFilter<EndpointsDocument> {
  const item = toEndpointItem(after);
  const fieldOf = (name: string) => `endpoints.$.${name}`;
  const present = names.filter((name) => item[name] !== undefined);
  const absent = names.filter((name) => item[name] === undefined);
  return {
    ...(present.length > 0 && {
      $set: Object.fromEntries(present.map((name) => [fieldOf(name), item[name]])),
    }),
    ...(absent.length > 0 && {
      $unset: Object.fromEntries(absent.map((name) => [fieldOf(name), '' as const])),
    }),
  };
}
