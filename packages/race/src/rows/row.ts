import { randomUUID } from 'node:crypto';
import type { Random } from '../random.ts';
import {
  type Answer,
  type Attempt,
  type Code,
  NoCode,
  RIGHT,
  redeem,
  type Server,
} from '../server.ts';

/**
 * `fail`: the server did what a standard forbids. `note`: the standards leave it open, or only recommend
 * something else. `error`: it could not be measured.
 */
export type Verdict = 'pass' | 'fail' | 'note' | 'skipped' | 'error';

/** What happened to one code. */
export interface Outcome {
  /** A few words under which codes are counted. */
  name: string;
  verdict: Exclude<Verdict, 'skipped'>;
  /** For `error`, and for a response that is wrong: what came. */
  reason?: string;
  /** The responses that were not wanted: those of the losers, or of the wrong attempt. */
  answers?: readonly Answer[];
  /** The other codes would tell nothing more. */
  endsRow?: boolean;
  /** The server refused to issue the code. */
  isNotIssued?: boolean;
}

/** What a row needs beside the server. */
export interface Round {
  /** Requests at once. */
  requests: number;
  /** The number of the code, from 0. */
  index: number;
  random: Random;
}

export interface Row {
  id: string;
  title: string;
  /** The standard that it measures by. */
  source: string;
  /** A race takes more codes than other rows. */
  isRace: boolean;
  /** Why it can't be measured on this server; null if it can. */
  lacks(server: Server): string | null;
  /** Takes one code through the row. An error that it throws is an outcome. */
  play(server: Server, round: Round): Promise<Outcome>;
}

/**
 * An answer that says something of the code.
 *
 * @throws Error if it is another one
 */
export function clear(answer: Answer): Extract<Answer, { kind: 'token' | 'refused' }> {
  if (answer.kind === 'broken') throw new Error(answer.reason);
  if (answer.kind === 'busy') {
    throw new Error(`The server responded with ${answer.status}. A longer --pause may help.`);
  }
  return answer;
}

/** Whether all checks let a token pass. */
export async function passes(server: Server, token: string): Promise<boolean> {
  const results = await Promise.all(server.checks.map((check) => check.passes(token)));
  return !results.includes(false);
}

/** Redeems a fresh code as its client does. */
export async function exchangeCode(server: Server): Promise<{ code: Code; token: string }> {
  const code = await server.issue({ challenge: true });
  const answer = clear(await redeem(server, code, RIGHT));
  if (answer.kind === 'token') return { code, token: answer.token };
  const { status, error } = answer;
  const hint = isOfClient(answer) ? ' Is OAUTH_RACE_SECRET right?' : '';
  throw new Error(`The server refused the code of its own client: ${status} ${error}.${hint}`);
}

/** Whether it may be the client that was refused, and not its code. */
const isOfClient = (answer: Answer): boolean =>
  answer.kind === 'refused' && /^(?:invalid|unauthorized)_client$/.test(answer.error);

/**
 * Redeems a code with something wrong.
 *
 * @throws Error if the other client was refused before its code was looked at
 */
export async function redeemWrongly(server: Server, code: Code, wrong: Attempt) {
  const answer = clear(await redeem(server, code, wrong));
  if (wrong.client === 'own' || !isOfClient(answer)) return answer;
  // Some servers call the code of another client an invalid client. An invented code tells the two apart.
  if (isOfClient(await redeem(server, { ...code, code: randomUUID() }, wrong))) {
    throw new Error('The second client was not authenticated. Is OAUTH_RACE_OTHER_SECRET right?');
  }
  return answer;
}

/** Takes a code whose request had no challenge through a row. The server may issue none. */
export async function withoutChallenge(
  server: Server,
  play: (code: Code) => Promise<Outcome>,
): Promise<Outcome> {
  let code: Code;
  try {
    code = await server.issue({ challenge: false });
  } catch (error) {
    if (!(error instanceof NoCode)) throw error;
    return error.how === 'redirect'
      ? { name: 'not issued', verdict: 'pass', isNotIssued: true }
      : // It is hardly anything but a refusal, and not the one that clients can read.
        {
          name: 'not issued (error page)',
          verdict: 'note',
          isNotIssued: true,
          reason: error.message,
        };
  }
  return play(code);
}
