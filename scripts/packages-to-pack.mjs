import { parseArgs } from 'node:util';

/**
 * What `npm run pack` was asked for: by default the SDK; with `--testing` also the test server and the
 * packages it depends on; with `--schema` the schema alone.
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
    },
    allowPositionals: true,
  });
  const [folder] = positionals;
  if (values.schema) return { packages: ['packages/schema'], folder };
  const withTests = ['packages/testing', 'packages/schema', 'apps/server'];
  return { packages: ['packages/client', ...(values.testing ? withTests : [])], folder };
}
