import { type Attempt, RIGHT, type Server } from '../server.ts';
import { lacksFor } from './abuses.ts';
import { exchangeCode, type Outcome, passes, type Row, redeemWrongly } from './row.ts';

/** Somebody sends the code again after its client has redeemed it. */
async function replay(server: Server, again: Attempt): Promise<Outcome> {
  const { code, token } = await exchangeCode(server);
  const second = await redeemWrongly(server, code, again);
  if (second.kind === 'token') return { name: 'accepted', verdict: 'fail' };
  const answers = [second];
  if (server.checks.length === 0) {
    return { name: 'refused (no way to check the token)', verdict: 'note', answers };
  }
  const isKept = await passes(server, token);
  const name = isKept ? 'refused, token kept' : 'refused, token revoked';
  // RFC 6749 recommends the end of the token. By a stranger, it is a way to log users out.
  const isByClient = Object.entries(RIGHT).every(
    ([part, right]) => again[part as keyof Attempt] === right,
  );
  return { name, verdict: isByClient === isKept ? 'note' : 'pass', answers };
}

const after = (id: string, title: string, again: Partial<Attempt>): Row => ({
  id,
  title,
  source: 'RFC 6749, 4.1.2; RFC 9700, 4.2.4',
  isRace: false,
  lacks: (server) => lacksFor(again, server),
  play: (server) => replay(server, { ...RIGHT, ...again }),
});

export const replays: readonly Row[] = [
  after('replay', 'Replay by the client itself', {}),
  after('replay-wrong-secret', 'Replay with a wrong secret', { secret: 'wrong' }),
  // They know what went through the browser. The verifier did not.
  after('replay-no-secret', 'Replay without a secret', { secret: 'none', verifier: 'wrong' }),
  after('replay-other-client', 'Replay by another client', { client: 'other', verifier: 'wrong' }),
];
