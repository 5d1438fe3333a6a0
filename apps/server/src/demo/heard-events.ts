import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@latchkey/domain/domain-error';
import { eventsOf } from '@latchkey/rules/events/events';
import { isSigned } from '@latchkey/rules/events/message';
import type { Service } from '@latchkey/rules/service';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { parseJson } from '../http/body.ts';

export interface HeardEvent {
  /** A message may come twice. */
  readonly id: string;
  readonly type: string;
  readonly data: {
    readonly grant_id?: string;
    readonly reason?: string | null;
  };
}

/** What the endpoint of the demo application was told last. */
export interface HeardEvents {
  /** @throws DomainError unless the message is signed for the endpoint */
  hear(message: { headers: IncomingHttpHeaders; bytes: Buffer }): Promise<void>;
  /** Newest first. */
  about(grant_ids: readonly string[]): readonly HeardEvent[];
}

// Of all browsers.
const MOST = 200;

export function createHeardEvents(service: Service): HeardEvents {
  let heard: HeardEvent[] = [];
  return {
    async hear({ headers, bytes }) {
      const endpoint = await service.store.findEndpoint(DEMO_ENDPOINT_ID);
      const now = service.clock();
      const message = { headers, body: bytes.toString() };
      const secret = endpoint && eventsOf(service).secretOf(endpoint);
      if (secret === null || !isSigned(message, { secret, now })) {
        throw DomainError.invalid(['webhook-signature'], 'Must be of this endpoint.');
      }
      const id = String(headers['webhook-id']);
      const event = { id, ...(parseJson(bytes) as Omit<HeardEvent, 'id'>) };
      heard = [event, ...heard.filter((earlier) => earlier.id !== id)].slice(0, MOST);
    },
    about: (grant_ids) => heard.filter(({ data }) => grant_ids.includes(data.grant_id ?? '')),
  };
}
