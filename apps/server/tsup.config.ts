import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig } from 'tsup';
import { thirdPartyNotices } from '../../scripts/third-party-notices.ts';

/** What `/docs` serves of Swagger UI, with the notices of the packages in its bundle. */
const swaggerUiFiles = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
];

const packageFolder = (entry: string) =>
  dirname(createRequire(import.meta.url).resolve(`${entry}/package.json`));

const swaggerUi = packageFolder('swagger-ui-dist');

async function copySwaggerUi(): Promise<void> {
  for (const file of swaggerUiFiles) await cp(join(swaggerUi, file), join('dist/swagger-ui', file));
}

// Without this, the declarations would import the private packages, which nobody can install.
const dts = {
  only: true,
  compilerOptions: {
    paths: Object.fromEntries(
      ['domain', 'store', 'rules'].map((name) => [
        `@latchkey/${name}/*`,
        [`../../packages/${name}/src/*.ts`],
      ]),
    ),
  },
};

export default defineConfig([
  {
    entry: { latchkey: 'src/cli/latchkey.ts', index: 'src/index.ts', testing: 'src/testing.ts' },
    format: 'esm',
    target: 'node22',
    // The stores are chunks of their own, so that a start loads only the one it uses.
    splitting: true,
    // esbuild would write `node:sqlite` as `sqlite`, which does not exist.
    removeNodeProtocol: false,
    // Fewer files to load at a start. As a dependency, tRPC would also install TypeScript, its peer.
    // The private packages of the service are published as part of it.
    noExternal: [/^@latchkey\//, '@trpc/server'],
    esbuildPlugins: [thirdPartyNotices(swaggerUi)],
    clean: true,
    onSuccess: copySwaggerUi,
  },
  // One by one, so that the types of the first share no file with the inside of the service.
  { entry: ['src/index.ts'], format: 'esm', dts },
  { entry: ['src/testing.ts'], format: 'esm', dts },
]);
