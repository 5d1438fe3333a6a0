import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // The types of the schema package are written into ours. tsup follows its top-level `types`, and
  // from there its relative imports only where they are named too.
  dts: { resolve: [/^@latchkey\//, /^\.\.?\//] },
  minify: true,
  treeshake: true,
  noExternal: [/^@latchkey\//],
  clean: true,
});
