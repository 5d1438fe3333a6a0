import { defineConfig } from 'tsup';

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
  },
  { entry: ['src/index.ts'], format: 'esm', dts: { only: true } },
]);
