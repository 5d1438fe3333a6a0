import { cp } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig } from 'tsup';

/** What `/docs` serves of Swagger UI, and what its licence asks to go along. */
const swaggerUiFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];

async function copySwaggerUi(): Promise<void> {
  const from = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const file of swaggerUiFiles) await cp(join(from, file), join('dist/swagger-ui', file));
}

export default defineConfig([
  {
    entry: { latchkey: 'src/cli/latchkey.ts', index: 'src/index.ts' },
    format: 'esm',
    target: 'node22',
    // The adapters are chunks of their own, so that a start loads only the one it uses.
    splitting: true,
    // esbuild would write `node:sqlite` as `sqlite`, which does not exist.
    removeNodeProtocol: false,
    // Fewer files to load at a start. The types come from the package, as everyone's.
    noExternal: ['@latchkey/schema'],
    clean: true,
    onSuccess: copySwaggerUi,
  },
  { entry: ['src/index.ts'], format: 'esm', dts: { only: true } },
]);
