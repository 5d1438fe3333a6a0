import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'examples',
    include: ['*.test.ts', 'test/*.test.ts', 'testing/*.test.ts'],
    // The README shows the service on MongoDB too.
    globalSetup: '../apps/server/test/global-setup.ts',
    // Most of these start programs of their own, a dozen at once on a machine that may be slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
