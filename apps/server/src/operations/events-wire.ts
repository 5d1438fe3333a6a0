import type { Milliseconds } from '@latchkey/domain/clock';
import {
  type Delivery,
  type Endpoint,
  formatTimestamp,
  operations,
  type Role,
} from '@latchkey/schema';
import type { DeliveryRecord, EndpointRecord } from '@latchkey/store/records';
import type { Operator } from './caller.ts';
import { timestampOrNull } from './wire.ts';

/** Who may write a URL sees it. */
const SEE_URLS: readonly Role[] = operations['admin.endpoints.update'].roles;

export function toEndpoint(endpoint: EndpointRecord, { key }: Pick<Operator, 'key'>): Endpoint {
  const { id, application_id, types, disabled_reason } = endpoint;
  const url = key === null || SEE_URLS.includes(key.role) ? endpoint.url : originOf(endpoint.url);
  return {
    ...{ object: 'endpoint', id, application_id, url, types },
    ...{ disabled: disabled_reason !== null, disabled_reason },
    created_at: formatTimestamp(endpoint.created_at),
    last_success_at: timestampOrNull(endpoint.last_success_at),
    failing_since: timestampOrNull(endpoint.failing_since),
  };
}

/** People put secrets into the path and the query. */
function originOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? origin : `${origin}/…`;
}

export function toDelivery(delivery: DeliveryRecord, now: Milliseconds): Delivery {
  const { id, endpoint_id, event_id, type, grant_id, account_id, status } = delivery;
  const { claim, due_at, attempts } = delivery;
  // While it is claimed, this is when the claim ends.
  const isClaimed = claim !== null && due_at !== null && due_at > now;
  return {
    ...{ object: 'delivery', id, endpoint_id, event_id, type, grant_id, account_id, status },
    created_at: formatTimestamp(delivery.created_at),
    next_attempt_at: isClaimed ? null : timestampOrNull(due_at),
    attempts: attempts.map(({ at, duration_ms, result, status_code }) => ({
      ...{ at: formatTimestamp(at), duration_ms, result, status_code },
    })),
  };
}
