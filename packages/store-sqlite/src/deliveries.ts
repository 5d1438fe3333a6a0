import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { endpointAfter, isStillTold } from '@latchkey/store/delivery';
import { ATTEMPTS_KEPT, type DeliveryRecord, type EndpointRecord } from '@latchkey/store/records';
import type {
  ClaimedDelivery,
  DueEndpoint,
  EndedTry,
  EventCounts,
  ListRange,
} from '@latchkey/store/store';
import {
  type DeliveryRow,
  DROPPED,
  deliveryRecord,
  deliveryRow,
  INSERT_DELIVERY,
} from './delivery-rows.ts';
import { type EndpointRow, EXISTING, endpointRecord, type prepareEndpoints } from './endpoints.ts';
import { rangeParameters } from './rows.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'dropped'] as const;

// Goes from one endpoint with pending deliveries to the next one, however many wait for each, and however
// many other endpoints there are.
const WITH_PENDING = `
  WITH RECURSIVE pending (id) AS (
    SELECT min(endpoint_id) FROM deliveries WHERE due_at IS NOT NULL
    UNION ALL
    SELECT (SELECT min(endpoint_id) FROM deliveries
      WHERE due_at IS NOT NULL AND endpoint_id > pending.id)
    FROM pending WHERE pending.id IS NOT NULL)`;

// Each changes three indexes, so a batch blocks the thread for about 10 ms.
const DROPPED_AT_ONCE = 200;

export function prepareDeliveries(
  database: DatabaseSync,
  { change, findEndpoint }: Pick<ReturnType<typeof prepareEndpoints>, 'change' | 'findEndpoint'>,
) {
  const listDue = database.prepare(`
    ${WITH_PENDING}
    SELECT e.id, failing_since IS NOT NULL OR last_success_at IS NULL AS is_doubtful
    FROM pending JOIN endpoints e ON e.id = pending.id
    WHERE disabled_reason IS NULL AND hex(e.id) NOT IN (SELECT value FROM json_each(:except))
      AND EXISTS (SELECT 1 FROM deliveries WHERE endpoint_id = e.id AND due_at <= :now)`);
  const claim = database.prepare(`
    UPDATE deliveries SET claim = :claim, due_at = :until WHERE id IN
      (SELECT id FROM deliveries WHERE endpoint_id = :endpoint_id AND due_at <= :now
        ORDER BY due_at LIMIT :most)
    RETURNING *`);
  const findToldEndpoint = database.prepare(`
    SELECT e.*, a.id IS NOT NULL AND NOT a.disabled AS has_enabled_application
    FROM endpoints e LEFT JOIN applications a ON a.id = e.application_id WHERE e.id = ?`);
  const drop = database.prepare(`UPDATE deliveries SET ${DROPPED} WHERE id = :id`);
  const dropUntold = database.prepare(`
    ${WITH_PENDING}
    UPDATE deliveries SET ${DROPPED} WHERE id IN
      (SELECT d.id FROM pending CROSS JOIN deliveries d
        ON d.endpoint_id = pending.id AND d.due_at IS NOT NULL
        WHERE pending.id NOT IN (SELECT id FROM endpoints WHERE disabled_reason IS NULL)
        LIMIT ${DROPPED_AT_ONCE})`);
  const insert = database.prepare(INSERT_DELIVERY);
  const find = database.prepare('SELECT * FROM deliveries WHERE id = ?');
  const end = database.prepare(`
    UPDATE deliveries SET status = :status, due_at = :due_at, claim = NULL, tries = tries + 1,
      attempts = :attempts, ended_at = :ended_at
    WHERE id = :id AND claim = :claim`);
  const release = database.prepare(
    'UPDATE deliveries SET claim = NULL, due_at = :now WHERE id = :id AND claim = :claim',
  );
  const byStatus = (status: string) => `
    SELECT * FROM (SELECT * FROM deliveries
      WHERE endpoint_id = :id AND status = '${status}' AND id < :before ORDER BY id DESC LIMIT :limit)`;
  const listOfEndpoint = database.prepare(
    `${STATUSES.map(byStatus).join(' UNION ALL ')} ORDER BY id DESC LIMIT :limit`,
  );
  const listByStatus = Object.fromEntries(
    STATUSES.map((status) => [status, database.prepare(byStatus(status))]),
  );
  // An event of a grant is told to at most 8 endpoints.
  const listOfGrant = database.prepare(`
    SELECT * FROM deliveries
    WHERE grant_id = :id AND id < :before AND status = coalesce(:status, status)
    ORDER BY id DESC LIMIT :limit`);
  const ANEW = "status = 'pending', due_at = :now, claim = NULL, tries = 0, ended_at = NULL";
  const HAS_ENABLED_ENDPOINT = `
    EXISTS (SELECT 1 FROM endpoints WHERE id = endpoint_id AND disabled_reason IS NULL)`;
  const retry = database.prepare(`
    UPDATE deliveries SET ${ANEW}
    WHERE id = :id AND status != 'pending' AND body IS NOT NULL AND ${HAS_ENABLED_ENDPOINT}
    RETURNING *`);
  const undelivered = (status: string) => `
    SELECT id FROM deliveries
    WHERE endpoint_id = :endpoint_id AND status = '${status}' AND ended_at >= :since
      AND type != 'ping' AND body IS NOT NULL AND ${HAS_ENABLED_ENDPOINT}`;
  const replay = database.prepare(`
    UPDATE deliveries SET ${ANEW} WHERE id IN
      (${undelivered('failed')} UNION ALL ${undelivered('dropped')} ORDER BY id DESC LIMIT :limit)`);
  const countDue = database.prepare(`
    ${WITH_PENDING}
    SELECT count(*) AS pending FROM (SELECT 1 FROM pending
      JOIN deliveries d ON d.endpoint_id = pending.id AND d.due_at IS NOT NULL LIMIT :limit)`);
  const countRecorded = database.prepare(
    'SELECT count(*) AS pending, min(at) AS oldest_at FROM (SELECT at FROM outbox LIMIT :limit)',
  );
  const findOldest = database.prepare(`
    ${WITH_PENDING}
    SELECT min((SELECT created_at FROM deliveries
      WHERE endpoint_id = pending.id AND status = 'pending' ORDER BY id LIMIT 1)) AS oldest_at
    FROM pending`);
  const countFailing = database.prepare(`
    SELECT count(*) AS failing FROM endpoints
    WHERE failing_since IS NOT NULL AND disabled_reason IS NULL AND ${EXISTING}`);

  function endTry(ended: EndedTry): EndpointRecord | null {
    const { claim, attempt, next_attempt_at, now } = ended;
    const id = uuidToBytes(ended.delivery_id);
    const row = find.get(id) as DeliveryRow | undefined;
    if (row?.claim === claim) {
      const isOver = attempt.result === 'delivered' || next_attempt_at === null;
      const undelivered = isOver ? 'failed' : 'pending';
      end.run({
        ...{ id, claim, due_at: isOver ? null : next_attempt_at, ended_at: isOver ? now : null },
        status: attempt.result === 'delivered' ? 'delivered' : undelivered,
        attempts: JSON.stringify([...JSON.parse(row.attempts), attempt].slice(-ATTEMPTS_KEPT)),
      });
    }
    const found = findToldEndpoint.get(uuidToBytes(ended.endpoint_id)) as EndpointRow | undefined;
    if (found === undefined) return null;
    const before = endpointRecord(found);
    const after = change(before, endpointAfter(before, ended));
    return before.disabled_reason === null && after.disabled_reason !== null ? after : null;
  }

  return {
    createPing(delivery: DeliveryRecord & { claim: string }) {
      const endpoint = findEndpoint(delivery.endpoint_id);
      if (endpoint === null || endpoint.disabled_reason !== null) return null;
      insert.run(deliveryRow(delivery));
      return endpoint;
    },

    listDueEndpoints({ now, except }: { now: Milliseconds; except: readonly string[] }) {
      const excepted = JSON.stringify(except.map((id) => id.replaceAll('-', '').toUpperCase()));
      const rows = listDue.all({ now, except: excepted }) as {
        id: Uint8Array;
        is_doubtful: number;
      }[];
      return rows.map(
        ({ id, is_doubtful }): DueEndpoint => ({
          id: uuidFromBytes(id),
          isDoubtful: is_doubtful === 1,
        }),
      );
    },

    claimDeliveries(options: {
      now: Milliseconds;
      claim: string;
      endpoints: readonly { id: string; most: number }[];
    }): ClaimedDelivery[] {
      const { now } = options;
      return options.endpoints.flatMap(({ id, most }) => {
        const endpoint_id = uuidToBytes(id);
        const row = findToldEndpoint.get(endpoint_id) as
          | (EndpointRow & { has_enabled_application: number })
          | undefined;
        if (row === undefined || row.disabled_reason !== null) return [];
        const { has_enabled_application, ...columns } = row;
        const endpoint = endpointRecord(columns);
        const rows = claim.all({
          ...{ endpoint_id, now, most, claim: options.claim, until: now + CLAIM_LASTS },
        }) as DeliveryRow[];
        const isDisabled = endpoint.application_id !== null && has_enabled_application === 0;
        return rows.flatMap((claimed) => {
          const delivery = deliveryRecord(claimed);
          if (isStillTold(delivery, { isDisabled })) return [{ delivery, endpoint }];
          drop.run({ now, id: claimed.id });
          return [];
        });
      });
    },

    endTries: (tries: readonly EndedTry[]): EndpointRecord[] =>
      tries.flatMap((ended) => endTry(ended) ?? []),

    /**
     * Drops some of what is pending for endpoints that are disabled or deleted.
     *
     * @returns whether there may be more
     */
    dropUntold: (now: Milliseconds): boolean => dropUntold.run({ now }).changes === DROPPED_AT_ONCE,

    releaseDeliveries(claim: string, ids: readonly string[], now: Milliseconds): void {
      for (const id of ids) release.run({ id: uuidToBytes(id), claim, now });
    },

    findDelivery(delivery_id: string): DeliveryRecord | null {
      const row = find.get(uuidToBytes(delivery_id)) as DeliveryRow | undefined;
      return row ? deliveryRecord(row) : null;
    },

    listDeliveries(
      filter: ({ endpoint_id: string } | { grant_id: string }) & {
        status?: DeliveryRecord['status'] | undefined;
      },
      range: ListRange,
    ): DeliveryRecord[] {
      const { status } = filter;
      const parameters = rangeParameters(range);
      const rows =
        'grant_id' in filter
          ? listOfGrant.all({
              ...{ ...parameters, id: uuidToBytes(filter.grant_id), status: status ?? null },
            })
          : (status ? listByStatus[status] : listOfEndpoint)?.all({
              ...{ ...parameters, id: uuidToBytes(filter.endpoint_id) },
            });
      return (rows as DeliveryRow[]).map(deliveryRecord);
    },

    retryDelivery(delivery_id: string, now: Milliseconds): DeliveryRecord | null {
      const row = retry.get({ id: uuidToBytes(delivery_id), now }) as DeliveryRow | undefined;
      return row ? deliveryRecord(row) : null;
    },

    replayDeliveries(options: {
      endpoint_id: string;
      since: Milliseconds;
      now: Milliseconds;
      limit: number;
    }): number {
      const endpoint_id = uuidToBytes(options.endpoint_id);
      return Number(replay.run({ ...options, endpoint_id }).changes);
    },

    countEvents(limit: number): EventCounts {
      const recorded = countRecorded.get({ limit }) as {
        pending: number;
        oldest_at: number | null;
      };
      const { pending } = countDue.get({ limit }) as { pending: number };
      const { oldest_at } = findOldest.get() as { oldest_at: number | null };
      const { failing } = countFailing.get() as { failing: number };
      const times = [recorded.oldest_at, oldest_at].filter((time) => time !== null);
      return {
        pending: Math.min(pending + recorded.pending, limit),
        oldest_at: times.length === 0 ? null : Math.min(...times),
        failing_endpoints: failing,
      };
    },
  };
}
