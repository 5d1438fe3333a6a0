import { expectTypeOf } from 'vitest';
import type {
  Account,
  ApplicationData,
  EndReason,
  EventsOptions,
  GrantRevokedData,
  LatchkeyEvent,
} from './index.ts';
import { expressEvents, fastifyEvents, fetchEvents, honoEvents, verifyEvent } from './index.ts';

// The type of the event is the type of its data.
const on: EventsOptions['on'] = {
  'grant.revoked'(grant, { id, timestamp }) {
    expectTypeOf(grant).toEqualTypeOf<GrantRevokedData>();
    expectTypeOf(grant.reason).toEqualTypeOf<EndReason | null>();
    expectTypeOf([id, timestamp]).toEqualTypeOf<string[]>();
  },
  'account.updated': async (account) => expectTypeOf(account).toEqualTypeOf<Account>(),
  'application.disabled': (of) => expectTypeOf(of).toEqualTypeOf<ApplicationData>(),
};

// An environment variable, and a list.
expressEvents({ secret: process.env.LATCHKEY_EVENTS_SECRET, on });
const secret = ['whsec_1', 'whsec_2'] as const;
fastifyEvents({ secret, on });
honoEvents({ secret, on: {} });

// Handlers of `fetch` take the standard type.
expectTypeOf<Request>().toExtend<Parameters<ReturnType<typeof fetchEvents>>[0]>();

// @ts-expect-error There is no such type.
fetchEvents({ secret, on: { 'grant.ended': () => {} } });
// @ts-expect-error Without a secret, anybody could send events.
fetchEvents({ on });

declare const request: Request;
const event = await verifyEvent(await request.arrayBuffer(), request.headers, secret);
expectTypeOf(event).toEqualTypeOf<LatchkeyEvent>();
if (event.type === 'grant.revoked') expectTypeOf(event.data).toEqualTypeOf<GrantRevokedData>();
