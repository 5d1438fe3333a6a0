import { parseArgs } from 'node:util';

/**
 * What `npm run pack` was asked for: by default the SDK; with `--testing` also the test server and the
 * packages it depends on; with `--schema` the schema alone; with `--release` everything that is
 * published.
 *
 * @param {string[]} args
 * @returns {{ packages: string[], folder: string | undefined }} the packages by their folders in the
 *   repository, and the folder for the tarballs
 */
export function packagesToPack(args) {
  const { values, positionals } = parseArgs({
    args,
    options: {
      testing: { type: 'boolean', default: false },
      schema: { type: 'boolean', default: false },
      release: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const [folder] = positionals;
  if (values.schema) return { packages: ['packages/schema'], folder };
  const withTests = ['packages/testing', 'packages/schema', 'apps/server'];
  const forTests = values.testing || values.release ? withTests : [];
  const alone = values.release ? ['packages/race'] : [];
  return { packages: ['packages/client', ...forTests, ...alone], folder };
}
