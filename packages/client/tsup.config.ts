import { defineConfig, type Options } from 'tsup';
import manifest from './package.json' with { type: 'json' };

/** What tsc has made of the sources. From those, tsup would make them again, in five times the time. */
const declarations = './.declarations';

/** @param paths - of each entry point below `src`, without the ending */
export function entryPoints(paths: Record<string, string>): Pick<Options, 'entry' | 'dts'> {
  const filesIn = (folder: string, ending: string) =>
    Object.fromEntries(
      Object.entries(paths).map(([name, path]) => [name, `${folder}/${path}${ending}`]),
    );
  return {
    entry: filesIn('src', '.ts'),
    dts: {
      entry: filesIn(`${declarations}/client/src`, '.d.ts'),
      // Inlines the types of the schema package. tsup follows that package's relative imports only if
      // they match a pattern here too.
      resolve: [/^@latchkey\//, /^\.\.?\//],
      compilerOptions: { paths: { '@latchkey/schema': [`${declarations}/schema/src/index.d.ts`] } },
    },
  };
}

export default defineConfig({
  // `tsup.linking.config.ts` builds the other entry points.
  ...entryPoints({ index: 'index', guards: 'guards/index' }),
  // Each entry point is self-contained: the guards contain only the parts of the client they use.
  splitting: false,
  format: ['esm', 'cjs'],
  target: 'es2022',
  platform: 'neutral',
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
