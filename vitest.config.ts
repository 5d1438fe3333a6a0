import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: ['packages/*', 'apps/*', 'examples', 'benchmarks'],
    reporters: ['default', './scripts/closing-line.ts'],
  },
});
