import { setTimeout as sleep } from 'node:timers/promises';
import type { Check } from '../server.ts';
import { exchangeCode, type Row } from './row.ts';

/** RFC 7009, 2.1, knows a delay until all of a server's parts know. */
const DELAY_MS = 1000;

/** A token is checked as soon as the server has confirmed that it is revoked, and a moment later. */
const revocation = (name: Check['name'], title: string, source: string): Row => ({
  id: `revoked-${name}`,
  title,
  source,
  isRace: false,
  lacks: ({ revoke, checks }) => {
    if (revoke === null) return 'There is no revocation endpoint.';
    if (checks.some((check) => check.name === name)) return null;
    return name === 'resource'
      ? 'There is no --resource.'
      : 'There is no introspection endpoint that answers this client.';
  },
  async play(server) {
    const { token } = await exchangeCode(server);
    const check = server.checks.find((one) => one.name === name) as Check;
    if (!(await check.passes(token))) throw new Error('A new token does not pass.');
    await server.revoke?.(token);
    if (!(await check.passes(token))) return { name: 'ended', verdict: 'pass' };
    await sleep(DELAY_MS);
    return (await check.passes(token))
      ? { name: 'still passes', verdict: 'fail' }
      : { name: 'ended late', verdict: 'note' };
  },
});

export const revocations: readonly Row[] = [
  revocation('introspection', 'A revoked token, introspected', 'RFC 7009, 2; RFC 7662, 2.2'),
  revocation('resource', 'A revoked token, used', 'RFC 7009, 2'),
];
