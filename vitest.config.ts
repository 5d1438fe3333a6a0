import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** A project with the options of this file. */
function project(
  root: string,
  test: TestProjectInlineConfiguration['test'] = {},
): TestProjectInlineConfiguration {
  return { extends: true, root, test: { name: root.replace(/^.*\//, ''), ...test } };
}

const onDatabases = {
  globalSetup: new URL('packages/test-kit/src/global-setup.ts', import.meta.url).pathname,
};

/** Their files change nothing that the next one sees, so one process runs many. */
const shareNothing = { isolate: false };

/** A mistake that `planted.slow.test.ts` makes. */
const planted =
  process.env.PLANTED_MISTAKE === undefined
    ? {}
    : {
        setupFiles: new URL('packages/store-suite/src/plant-mistake.ts', import.meta.url).pathname,
      };

export default defineConfig({
  test: {
    projects: [
      project('packages/schema', shareNothing),
      project('packages/domain', shareNothing),
      project('packages/store', shareNothing),
      project('packages/rules', shareNothing),
      project('packages/store-sqlite', planted),
      project('packages/store-mongodb', { ...onDatabases, ...planted }),
      project('packages/store-postgresql', { ...onDatabases, ...planted }),
      project('packages/store-suite'),
      project('packages/client'),
      project('packages/race'),
      project('packages/testing'),
      project('packages/test-kit', onDatabases),
      project('apps/server', onDatabases),
      // The pages show the service with PostgreSQL too.
      project('tests', { ...onDatabases, include: ['*.test.ts', '../examples/testing/*.test.ts'] }),
      // Without the servers that only this package installs.
      project('benchmarks'),
    ],
    // By default, vitest leaves one core unused. But tests mostly wait for a server, a disk or a browser:
    // with a worker for each core, a third of the time of two cores goes unused.
    maxWorkers: availableParallelism() + 1,
    // They only end what hangs: tests start programs, and a busy machine may need ten times as long.
    testTimeout: 300_000,
    // A hook may compile a program.
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['default', './scripts/closing-line.ts'],
  },
});
