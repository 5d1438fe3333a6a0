import { setTimeout as sleep } from 'node:timers/promises';
import { shuffled } from '../random.ts';
import { type Answer, RIGHT, type Server } from '../server.ts';
import {
  codeWithoutChallenge,
  NOT_ISSUED,
  type Outcome,
  passes,
  type Round,
  type Row,
} from './row.ts';

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
  round: Round,
  options: { challenge: boolean; routes: number },
): Promise<Outcome> {
  const { challenge } = options;
  const code = challenge ? await server.issue({ challenge }) : await codeWithoutChallenge(server);
  if (code === null) return { ...NOT_ISSUED, endsRow: true };
  const calls = scheduleOf(round, options.routes);
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
  const unanswered = broken.find(({ status }) => status === null);
  const reason = (unanswered ?? broken[0])?.reason;
  const rest = { answers: losers, ...(reason !== undefined && { reason }) };
  if (tokens.length > 1) return { name: 'more than once', verdict: 'fail', ...rest };
  if (tokens.length === 0) {
    const isRefused = losers.every(({ kind }) => kind === 'refused');
    return isRefused
      ? { name: 'never', verdict: 'fail', ...rest }
      : { name: 'unclear', verdict: 'error', reason: 'No request got a token.', ...rest };
  }
  if (unanswered) return { name: 'once, and others unanswered', verdict: 'error', ...rest };
  if (broken.length > 0) return { name: 'once, and others broken', verdict: 'fail', ...rest };
  return (await passes(server, tokens[0] as string))
    ? { name: 'once', verdict: 'pass', ...rest }
    : { name: 'once, then token revoked', verdict: 'note', ...rest };
}

const race = (
  id: string,
  what: string,
  options: { challenge: boolean; everyRoute: boolean },
): Row => ({
  id,
  title: `Requests at once, ${what}`,
  source: 'RFC 6749, 4.1.2 and 5.2',
  isRace: true,
  lacks: ({ routes }) =>
    options.everyRoute && routes < 2 ? 'There is one token endpoint only.' : null,
  async play(server, round) {
    const { challenge } = options;
    return raceOnce(server, round, { challenge, routes: options.everyRoute ? server.routes : 1 });
  },
});

export const races: readonly Row[] = [
  race('race', 'without PKCE', { challenge: false, everyRoute: false }),
  race('race-pkce', 'with PKCE', { challenge: true, everyRoute: false }),
  race('race-routes', 'over every route', { challenge: true, everyRoute: true }),
];
