import type { Check } from '../server.ts';
import { exchangeCode, type Row } from './row.ts';

/** A token is checked as soon as the server has confirmed that it is revoked. */
const revocation = (name: Check['name'], title: string, source: string): Row => ({
  id: `revoked-${name}`,
  title,
  source,
  isRace: false,
  lacks: ({ revoke, checks }) => {
    if (revoke === null) return 'There is no revocation endpoint.';
    if (checks.some((check) => check.name === name)) return null;
    return name === 'resource' ? 'There is no --resource.' : 'There is no introspection endpoint.';
  },
  async play(server) {
    const { token } = await exchangeCode(server);
    const check = server.checks.find((one) => one.name === name) as Check;
    if (!(await check.passes(token))) throw new Error('A new token does not pass.');
    await server.revoke?.(token);
    return (await check.passes(token))
      ? { name: 'still passes', verdict: 'fail' }
      : { name: 'ended', verdict: 'pass' };
  },
});

export const revocations: readonly Row[] = [
  revocation('introspection', 'A revoked token, introspected', 'RFC 7009, 2; RFC 7662, 2.2'),
  revocation('resource', 'A revoked token, used', 'RFC 7009, 2'),
];
