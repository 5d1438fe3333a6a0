// A failure of these tests may be a bug that luck has found: races, histories, faults, hostile and
// random input. tests/second-try.test.ts finds a file that is missing here.
export const NO_SECOND_TRY = [
  '.property.test.ts',
  'apps/server/src/http/form.test.ts',
  'apps/server/src/http/linking/theme/contrast.test.ts',
  'packages/rules/src/linking/redirect.test.ts',
  'apps/server/test/browser/linking.test.ts',
  'apps/server/test/check-mongodb/',
  'apps/server/test/cli/copy-command.test.ts',
  'apps/server/test/demo/demo.test.ts',
  'apps/server/test/faults/',
  'apps/server/test/grants/idle-grants.test.ts',
  'apps/server/test/http/logos.test.ts',
  'apps/server/test/history/',
  'apps/server/test/hostile/',
  'apps/server/test/http/codes.test.ts',
  'apps/server/test/http/erasure.test.ts',
  'apps/server/test/http/grants.test.ts',
  'apps/server/test/http/keys.test.ts',
  'apps/server/test/http/late-bodies.test.ts',
  'apps/server/test/http/replaced-grants.test.ts',
  'apps/server/test/http/token.test.ts',
  'apps/server/test/http/trpc-batches.test.ts',
  'apps/server/test/linking/browsers.test.ts',
  'apps/server/test/linking/consent.test.ts',
  'apps/server/test/linking/links.test.ts',
  'apps/server/test/linking/majority-waits.test.ts',
  'apps/server/test/outbound/resolve.test.ts',
  'apps/server/test/proxies/',
  'apps/server/test/races.test.ts',
  'apps/server/test/store/',
  'apps/server/test/tracing/tracing.test.ts',
  'apps/server/test/two-servers/',
  'apps/server/test/work/work-killed.test.ts',
  'benchmarks/performance/against/ratio.test.ts',
  'packages/client/src/latchkey.test.ts',
  'packages/client/src/single-flight.test.ts',
  'packages/race/src/',
  'packages/schema/src/',
  'packages/store-mongodb/test/',
  'packages/store-postgresql/test/',
  'packages/store-sqlite/test/',
  'packages/store-suite/test/',
  'packages/testing/src/test-server.test.ts',
  'tests/clients/race.test.ts',
  'tests/sdk.test.ts',
];

/**
 * Whether a test file that failed may be run once more.
 *
 * @param {string} path - from the root of the repository
 */
export function maySecondTry(path) {
  return !NO_SECOND_TRY.some((part) => path.includes(part));
}
