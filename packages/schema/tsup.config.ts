import { defineConfig } from 'tsup';

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  target: 'es2022',
  // `trpc` is types alone.
  dts: { entry: ['src/index.ts', 'src/trpc.ts'] },
  clean: true,
});
