import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Apart from the other projects, since only this run installs the libraries.
export default defineConfig({
  test: {
    root: fileURLToPath(new URL('.', import.meta.url)),
    globalSetup: fileURLToPath(
      new URL('../../packages/test-kit/src/global-setup.ts', import.meta.url),
    ),
    // They only end what hangs.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: [
      'default',
      fileURLToPath(new URL('../../scripts/closing-line.ts', import.meta.url)),
    ],
  },
});
