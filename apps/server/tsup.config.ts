import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig } from 'tsup';
import { nativeSpread } from './build/native-spread.ts';

/** What `/docs` serves of Swagger UI, and what its licence asks to go along. */
const swaggerUiFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];

const packageFolder = (entry: string) =>
  dirname(createRequire(import.meta.url).resolve(`${entry}/package.json`));

async function copySwaggerUi(): Promise<void> {
  const from = packageFolder('swagger-ui-dist');
  for (const file of swaggerUiFiles) await cp(join(from, file), join('dist/swagger-ui', file));
}

/** What is bundled goes along with its licence. */
const copyTrpcLicense = () =>
  cp(join(packageFolder('@trpc/server'), 'LICENSE'), 'dist/LICENSE-trpc');

export default defineConfig([
  {
    entry: { latchkey: 'src/cli/latchkey.ts', index: 'src/index.ts' },
    format: 'esm',
    target: 'node22',
    // The adapters are chunks of their own, so that a start loads only the one it uses.
    splitting: true,
    // esbuild would write `node:sqlite` as `sqlite`, which does not exist.
    removeNodeProtocol: false,
    // Fewer files to load at a start. The types come from the packages, as everyone's.
    noExternal: ['@latchkey/schema', '@trpc/server'],
    esbuildPlugins: [nativeSpread()],
    clean: true,
    async onSuccess() {
      await copySwaggerUi();
      await copyTrpcLicense();
    },
  },
  { entry: ['src/index.ts'], format: 'esm', dts: { only: true } },
]);
