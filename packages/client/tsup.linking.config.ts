import { dirname } from 'node:path';
import { defineConfig, type Options } from 'tsup';
import main, { entryPoints } from './tsup.config.ts';

type EsbuildPlugin = NonNullable<Options['esbuildPlugins']>[number];

/** Takes the errors from the main entry point, so that `instanceof` knows those of both clients. */
const errorsOfMain: EsbuildPlugin = {
  name: 'errors-of-main',
  setup({ initialOptions, onResolve }) {
    const isCommonJs = initialOptions.define?.TSUP_FORMAT === '"cjs"';
    const path = isCommonJs ? './index.cjs' : './index.js';
    onResolve({ filter: /\/errors\.ts$/ }, ({ importer }) =>
      dirname(importer).startsWith(import.meta.dirname) ? { path, external: true } : undefined,
    );
  },
};

// On their own, because types that two entry points have go to a file beside both, and editors would
// find no error class that a docstring of the main entry point links to.
export default defineConfig({
  ...(main as Options),
  ...entryPoints({
    linking: 'linking/index',
    events: 'events/index',
    admin: 'admin/index',
    host: 'host/index',
  }),
  // It runs after the other, and keeps its files.
  clean: false,
  esbuildPlugins: [errorsOfMain],
});
