import { defineConfig } from 'vitest/config';

// A run of its own, for tests/closing-line.test.ts.
export default defineConfig({
  test: { include: ['tests/*.test.ts'], reporters: ['../../../scripts/closing-line.ts'] },
});
