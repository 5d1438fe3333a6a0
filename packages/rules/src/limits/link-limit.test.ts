import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createLimits } from './limits.ts';
import { parseRateLimits } from './rate-limit-setting.ts';
import { RateLimited } from './rate-limited.ts';

// Regression: one account approves a link from each of a few /64, and its line had all of the total.
test.each([false, true])(
  'all addresses of a /48 leave room for those of others, known: %s',
  (isKnown) => {
    const store = { addToCount: async () => ({ count: 0, ends_at: Number.POSITIVE_INFINITY }) };
    const settings = parseRateLimits('links=10/60,links_total=100/60') ?? null;
    const { links, close } = createLimits(
      settings,
      { store, clock: () => 0 },
      pino({ enabled: false }),
      () => {},
    );
    onTestFinished(close);
    let begun = 0;
    const begin = (address: string) => {
      try {
        links.count(address);
        begun += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(RateLimited);
      }
    };
    for (let network = 0; network < 200; network++) {
      const address = `2001:db8:0:${network.toString(16)}::/64`;
      if (isKnown) {
        links.begun(address, address);
        links.approved(address);
      }
      begin(address);
    }
    expect(begun).toBe(20);
    for (let site = 1; site < 10; site++) begin(`2001:db8:${site}:0::/64`);
    for (let host = 0; host < 20; host++) begin('192.0.2.1');
    expect(begun).toBe(20 + 9 + 10);
  },
);
