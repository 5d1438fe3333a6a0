import { defineConfig } from 'tsup';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  entry: { index: 'src/index.ts', guards: 'src/guards/index.ts' },
  // Each entry point stands alone: guards take of the client what they need, and no more.
  splitting: false,
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // The types of the schema package are written into ours. tsup follows its top-level `types`, and
  // from there its relative imports only where they are named too.
  dts: { resolve: [/^@latchkey\//, /^\.\.?\//] },
  minify: true,
  treeshake: true,
  // Of an error that nobody catches Node prints the whole line it was thrown in.
  esbuildOptions(options) {
    options.lineLimit = 120;
  },
  define: { PACKAGE_VERSION: JSON.stringify(manifest.version) },
  noExternal: [/^@latchkey\//],
  clean: true,
});
