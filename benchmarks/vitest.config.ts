import { defineConfig } from 'vitest/config';

export default defineConfig({
  // The benchmarks themselves, run without the servers that only their own package has.
  test: { name: 'benchmarks', include: ['**/*.test.ts'] },
});
