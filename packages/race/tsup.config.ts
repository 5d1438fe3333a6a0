import { defineConfig } from 'tsup';
import manifest from './package.json' with { type: 'json' };

export default defineConfig([
  {
    entry: { index: 'src/index.ts', 'oauth-race': 'src/cli.ts' },
    format: 'esm',
    target: 'node20',
    removeNodeProtocol: false,
    define: { PACKAGE_VERSION: JSON.stringify(manifest.version) },
    clean: true,
  },
  { entry: ['src/index.ts'], format: 'esm', dts: { only: true } },
]);
