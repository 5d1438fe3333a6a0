import { exchangeCode, passes, type Row } from './row.ts';

/** What every other row builds on. */
export const exchange: Row = {
  id: 'exchange',
  title: 'A code is exchanged, and its token passes',
  source: 'RFC 6749, 4.1.3',
  isRace: false,
  lacks: () => null,
  async play(server) {
    const { token } = await exchangeCode(server);
    if (!(await passes(server, token))) throw new Error('A new token does not pass.');
    return { name: 'passes', verdict: 'pass' };
  },
};
