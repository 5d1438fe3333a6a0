import { type Attempt, RIGHT, redeem, type Server } from '../server.ts';
import { clear, type Outcome, type Row, redeemWrongly, withoutChallenge } from './row.ts';

/** Why an attempt can't be made on a server. */
export function lacksFor(attempt: Partial<Attempt>, server: Server): string | null {
  const { secret = 'right', client } = attempt;
  if (secret !== 'right' && !server.hasSecret) return 'The client has no secret.';
  if (client === 'other' && !server.hasOtherClient) return 'There is no --other-client.';
  return null;
}

/** Somebody sends the code with one thing wrong, and then the client sends everything right. */
async function attemptFirst(server: Server, wrong: Attempt): Promise<Outcome> {
  const code = await server.issue({ challenge: true });
  const first = await redeemWrongly(server, code, wrong);
  if (first.kind === 'token') return { name: 'accepted', verdict: 'fail' };
  const own = clear(await redeem(server, code, RIGHT));
  return own.kind === 'token'
    ? { name: 'refused', verdict: 'pass', answers: [first] }
    : { name: 'refused, and used up', verdict: 'note', answers: [first] };
}

const before = (id: string, title: string, source: string, wrong: Partial<Attempt>): Row => ({
  id,
  title,
  source,
  isRace: false,
  lacks: (server) => lacksFor(wrong, server),
  play: (server) => attemptFirst(server, { ...RIGHT, ...wrong }),
});

/** Somebody took the challenge out of the authorization request. The client sends its verifier. */
const downgrade: Row = {
  id: 'downgrade',
  title: 'A verifier, for a code without a challenge',
  source: 'RFC 9700, 2.1.1',
  isRace: false,
  lacks: () => null,
  play: (server) =>
    withoutChallenge(server, async (code) => {
      const answer = clear(await redeem(server, code, { ...RIGHT, verifier: 'wrong' }));
      if (answer.kind === 'token') return { name: 'accepted', verdict: 'fail' };
      return { name: 'refused', verdict: 'pass', answers: [answer] };
    }),
};

export const abuses: readonly Row[] = [
  before('wrong-secret', 'A wrong secret first', 'RFC 6749, 4.1.3', { secret: 'wrong' }),
  before('no-secret', 'No secret first', 'RFC 6749, 4.1.3', { secret: 'none' }),
  before('other-client', 'Another client first', 'RFC 6749, 4.1.3', { client: 'other' }),
  before('other-redirect-uri', 'Another redirect URI first', 'RFC 6749, 4.1.3', {
    redirectUri: 'other',
  }),
  before('wrong-verifier', 'A wrong verifier first', 'RFC 7636, 4.6', { verifier: 'wrong' }),
  before('no-verifier', 'No verifier first', 'RFC 9700, 2.1.1', { verifier: 'none' }),
  downgrade,
];
