import { defineConfig } from 'vitest/config';

// A run of its own, for tests/second-try.test.ts.
export default defineConfig({
  test: {
    include: (process.env.PLANTED ?? '').split(' '),
    globalSetup: './tear-down.ts',
    reporters: ['../../../scripts/closing-line.ts'],
  },
});
