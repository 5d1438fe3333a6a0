import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Apart from the other projects, since only this run installs the libraries.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    globalSetup: fileURLToPath(
      new URL('../../packages/test-kit/src/global-setup.ts', import.meta.url),
    ),
    // As the other projects have it.
    maxWorkers: availableParallelism() + 1,
    // They only end what hangs.
    testTimeout: 300_000,
    // A hook may compile a program.
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: [
      'default',
      fileURLToPath(new URL('../../scripts/closing-line.ts', import.meta.url)),
    ],
  },
});
