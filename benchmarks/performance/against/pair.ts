import type { Connection } from '../connection.ts';
import type { Endpoint, Grant } from '../contender.ts';
import type { RunningLatchkey } from '../contenders/latchkey.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, convertAll, expectRefusal, measure } from '../measure.ts';
import type { Sample } from '../results.ts';
import type { LatchkeyWire } from '../wires/rest.ts';

/** In the order in which a grant goes through them. */
export const operations = [
  'issue a code',
  'convert',
  'recover',
  'first use',
  'authenticate',
  'introspect',
  'revoke',
] as const;
export type Operation = (typeof operations)[number];

/** The other tree, then this one. */
export type Pair<T> = readonly [before: T, here: T];

type Server = RunningLatchkey<LatchkeyWire>;

/** The operations on one server. Each takes the codes or grants of the one before. */
function operationsOn(
  server: Server,
  connections: readonly Connection[],
  requests: number,
): Record<Operation, () => Promise<Sample>> & { expectRefusals(): Promise<void> } {
  const { url, wire, issuing } = server;
  let codes: string[] = [];
  let grants: Grant[] = [];
  const onGrants = (endpoint: Endpoint<Grant, void>) => async () =>
    (await measure(server, connections, endpoint, grants)).sample;
  return {
    async 'issue a code'() {
      const unbound = Array.from({ length: requests }, () => ({}));
      const { sample, outputs } = await measure(server, connections, issuing, unbound);
      codes = outputs;
      return sample;
    },
    async convert() {
      const { sample, outputs } = await convertAll(server, connections, codes);
      grants = outputs;
      return sample;
    },
    async recover() {
      const { sample, outputs } = await measure(server, connections, wire.recover, grants);
      grants = outputs;
      return sample;
    },
    'first use': onGrants(wire.authenticate),
    authenticate: onGrants(wire.authenticate),
    introspect: onGrants(wire.introspect),
    revoke: onGrants(wire.revoke),
    async expectRefusals() {
      const [code, grant] = [codes[0], grants[0]];
      if (code !== undefined) await expectRefusal(url, connections, wire.convert, code);
      if (grant) await expectRefusal(url, connections, wire.authenticate, grant);
    },
  };
}

/** Each operation on both servers. */
export type Round = Record<Operation, Pair<Sample>>;

/**
 * Measures each operation on both servers, on one right after the other: what else the machine does then
 * is nearly the same for both.
 *
 * @param turn - which server begins alternates with it, and from operation to operation
 */
export function measureRound(
  [before, here]: Pair<Server>,
  requests: number,
  turn: number,
): Promise<Round> {
  return withConnections(before.url, CONNECTIONS, (toBefore) =>
    withConnections(here.url, CONNECTIONS, async (toHere) => {
      const onBefore = operationsOn(before, toBefore, requests);
      const onHere = operationsOn(here, toHere, requests);
      const samples: Partial<Round> = {};
      for (const [index, operation] of operations.entries()) {
        if ((turn + index) % 2 === 0) {
          const first = await onBefore[operation]();
          samples[operation] = [first, await onHere[operation]()];
        } else {
          const first = await onHere[operation]();
          samples[operation] = [await onBefore[operation](), first];
        }
      }
      await onBefore.expectRefusals();
      await onHere.expectRefusals();
      return samples as Round;
    }),
  );
}
