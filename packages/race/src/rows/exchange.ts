import type { Check } from '../server.ts';
import { exchangeCode, type Row } from './row.ts';

/** What every other row builds on. */
export const exchange: Row = {
  id: 'exchange',
  title: 'A code is exchanged, and its token passes',
  source: 'RFC 6749, 4.1.3',
  isRace: false,
  lacks: () => null,
  async play(server) {
    const { token } = await exchangeCode(server);
    const doubts = await Promise.all(server.checks.map((check) => doubtOf(check, token)));
    const reason = doubts.find((doubt) => doubt !== null);
    const isChecked = doubts.includes(null);
    const name = isChecked ? 'passes' : 'exchanged (no way to check the token)';
    return reason ? { name, verdict: 'note', reason } : { name, verdict: 'pass' };
  },
};

const DOUBTS = {
  introspection: 'The introspection endpoint calls a new token inactive.',
  resource: 'The resource refuses a new token.',
} as const;

/**
 * Why a check can't be used, though a new token should pass; null if it can.
 *
 * @throws Error if it was asked for
 */
async function doubtOf(check: Check, token: string): Promise<string | null> {
  const doubt = await check.passes(token).then(
    (isPassing) => (isPassing ? null : DOUBTS[check.name]),
    (error: Error) => error.message,
  );
  if (doubt === null) return null;
  if (check.isPublished) return `${doubt} It comes from the metadata, and is left out.`;
  throw new Error(
    check.name === 'introspection'
      ? `${doubt} If it is not for this client, leave --introspection-endpoint out.`
      : doubt,
  );
}
