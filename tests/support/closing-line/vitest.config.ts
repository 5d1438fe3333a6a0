import { defineConfig } from 'vitest/config';

// A run of its own, for tests/closing-line.test.ts.
export default defineConfig({
  test: {
    projects: ['tests', 'benchmarks'].map((name) => ({
      extends: true,
      test: { name, include: [`${name}/*.test.ts`] },
    })),
    reporters: ['../../../scripts/closing-line.ts'],
  },
});
