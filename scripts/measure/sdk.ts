import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import manifest from '../../packages/client/package.json' with { type: 'json' };

/** The part of esbuild that is used here. It is the one that tsup builds with. */
interface Esbuild {
  build(options: object): Promise<{ outputFiles: { contents: Uint8Array }[] }>;
}
const esbuild: Esbuild = createRequire(import.meta.resolve('tsup'))('esbuild');

const folder = new URL('../../packages/client/', import.meta.url);

/** The bytes of each entry point of the SDK with all that it needs, bundled and minified. */
export async function sdkSizes(): Promise<{ entry: string; bytes: number }[]> {
  const entries = Object.entries(manifest.exports).filter(([, path]) => path.endsWith('.ts'));
  return Promise.all(
    entries.map(async ([name, path]) => {
      const { outputFiles } = await esbuild.build({
        entryPoints: [fileURLToPath(new URL(path, folder))],
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        platform: 'neutral',
        target: 'es2022',
        define: { PACKAGE_VERSION: JSON.stringify(manifest.version) },
      });
      const entry = name.replace('.', manifest.name);
      return { entry, bytes: outputFiles[0]?.contents.length ?? 0 };
    }),
  );
}
