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
  // The notices are in THIRD_PARTY_LICENSES; what is left are marks for a coverage tool.
  esbuildOptions(options) {
    options.legalComments = 'none';
  },
  // One package for its users: tRPC's client would bring `typescript` along as a peer.
  noExternal: [/^@trpc\//, /^@latchkey\//],
  esbuildPlugins: [
    {
      // tRPC's client does not declare that its modules have no side effects; without this, a
      // third of the bundle would be links that nothing uses, such as the one for WebSockets.
      name: 'trpc-without-side-effects',
      setup(build) {
        build.onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
          const ours =
            path.startsWith('@trpc/') || /[\\/]@trpc[\\/]client[\\/]/.test(from.importer);
          if (!ours || pluginData === 'resolved') return undefined;
          const resolved = await build.resolve(path, { ...from, pluginData: 'resolved' });
          return { ...resolved, sideEffects: false };
        });
      },
    },
  ],
  clean: true,
});
