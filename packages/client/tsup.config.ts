import { defineConfig } from 'tsup';
import manifest from './package.json' with { type: 'json' };

export default defineConfig({
  // `tsup.linking.config.ts` builds the other entry points.
  entry: { index: 'src/index.ts', guards: 'src/guards/index.ts' },
  // Each entry point is self-contained: the guards contain only the parts of the client they use.
  splitting: false,
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
  // Inlines the types of the schema package. tsup follows that package's relative imports only if
  // they match a pattern here too.
  dts: { resolve: [/^@latchkey\//, /^\.\.?\//] },
  // Readable in a debugger, in a stack, and where Node prints the line that threw an uncaught error.
  minify: false,
  // The docstrings are in the `.d.ts`, where editors read them. They would be a fifth of the code. And
  // the sources, whose paths esbuild names, are not published.
  plugins: [
    {
      name: 'without-docstrings',
      renderChunk: (code) => ({
        code: code.replaceAll(
          /^ *\/\*\*[\s\S]*?\*\/\n|^\/\/ (?:\.\.\/schema\/)?src\/\S+\.ts\n/gm,
          '',
        ),
      }),
    },
  ],
  treeshake: true,
  define: { PACKAGE_VERSION: JSON.stringify(manifest.version) },
  noExternal: [/^@latchkey\//],
  clean: true,
});
