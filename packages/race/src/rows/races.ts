import { setTimeout as sleep } from 'node:timers/promises';
import { shuffled } from '../random.ts';
import { type Answer, type Code, RIGHT, redeem, type Server } from '../server.ts';
import { clear, type Outcome, passes, type Round, type Row, withoutChallenge } from './row.ts';

/** Between the first and the last request of a spread race. */
const SPREAD_MS = 4;

/** One of the requests for a code. */
interface Call {
  route: number;
  /** In milliseconds. */
  delay: number;
}

/** The requests for a code: over each route in turn, in any order. For every second code, they are spread. */
export function scheduleOf({ requests, index, random }: Round, routes: number): Call[] {
  const isSpread = index % 2 === 1;
  const calls = Array.from({ length: requests }, (_, request) => ({
    route: request % routes,
    delay: isSpread ? random() * SPREAD_MS : 0,
  }));
  return shuffled(calls, random);
}

/** Redeems one code by several requests at once, each over a connection that is open already. */
async function raceOnce(
  server: Server,
  code: Code,
  round: Round,
  routes: number,
): Promise<Outcome> {
  const calls = scheduleOf(round, routes);
  const senders = await Promise.all(calls.map(({ route }) => server.connect(route)));
  const answers = await Promise.all(
    senders.map(async (send, index) => {
      const { delay } = calls[index] as Call;
      if (delay > 0) await sleep(delay);
      return send(code, RIGHT);
    }),
  );
  return judge(server, answers);
}

async function judge(server: Server, answers: readonly Answer[]): Promise<Outcome> {
  const tokens = answers.flatMap((answer) => (answer.kind === 'token' ? [answer.token] : []));
  const losers = answers.filter((answer) => answer.kind !== 'token');
  const broken = losers.filter((answer) => answer.kind === 'broken');
  const busy = losers.filter((answer) => answer.kind === 'busy');
  const unanswered = broken.find(({ status }) => status === null);
  const reason = (unanswered ?? broken[0])?.reason;
  const rest = { answers: losers, ...(reason !== undefined && { reason }) };
  if (tokens.length > 1) {
    const isSame = new Set(tokens).size === 1;
    return { name: `${isSame ? 'the same token ' : ''}more than once`, verdict: 'fail', ...rest };
  }
  if (tokens.length === 0) {
    const isRefused = losers.every(({ kind }) => kind === 'refused');
    return isRefused
      ? { name: 'never', verdict: 'fail', ...rest }
      : { name: 'unclear', verdict: 'error', reason: 'No request got a token.', ...rest };
  }
  if (unanswered) return { name: 'once, and others unanswered', verdict: 'error', ...rest };
  if (broken.length > 0) return { name: 'once, and others broken', verdict: 'fail', ...rest };
  if (busy.length > 0) {
    return {
      name: 'once, and others busy',
      // Only a request that was answered has raced.
      verdict: busy.length === losers.length ? 'error' : 'note',
      reason: `${busy.length} of ${answers.length} requests were answered by ${busy[0]?.status}. Raise the server's limit for this test.`,
      ...rest,
    };
  }
  return (await passes(server, tokens[0] as string))
    ? { name: 'once', verdict: 'pass', ...rest }
    : { name: 'once, then token revoked', verdict: 'note', ...rest };
}

/** Without PKCE, a server may issue no code, or redeem none. */
async function raceWithoutChallenge(server: Server, round: Round): Promise<Outcome> {
  const outcome = await withoutChallenge(server, (code) => raceOnce(server, code, round, 1));
  if (outcome.isNotIssued) return { ...outcome, endsRow: true };
  if (outcome.name !== 'never') return outcome;
  const alone = await server.issue({ challenge: false });
  if (clear(await redeem(server, alone, RIGHT)).kind === 'token') return outcome;
  return { ...outcome, name: 'not redeemable without PKCE', verdict: 'note', endsRow: true };
}

const race = (
  id: string,
  what: string,
  rest: Pick<Row, 'play'> & Partial<Pick<Row, 'lacks'>>,
): Row => ({
  id,
  title: `Requests at once, ${what}`,
  source: 'RFC 6749, 4.1.2 and 5.2',
  isRace: true,
  lacks: () => null,
  ...rest,
});

/** With PKCE. */
const raceOver = async (server: Server, round: Round, routes: number) =>
  raceOnce(server, await server.issue({ challenge: true }), round, routes);

export const races: readonly Row[] = [
  race('race', 'without PKCE', { play: raceWithoutChallenge }),
  race('race-pkce', 'with PKCE', { play: (server, round) => raceOver(server, round, 1) }),
  race('race-routes', 'over every route', {
    lacks: ({ routes }) => (routes < 2 ? 'There is one token endpoint only.' : null),
    play: (server, round) => raceOver(server, round, server.routes),
  }),
];
