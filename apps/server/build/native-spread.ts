import { readFile } from 'node:fs/promises';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const HELPER = /function _objectSpread2\(e\) \{[\s\S]*?\n\}/g;

// The helper has any number of sources; object spreads are transpiled to two of them at the most.
const NATIVE = `function _objectSpread2(target, one, two, ...more) {
	if (more.length > 0) throw new Error("An object spread of more than two sources");
	return { ...target, ...one, ...two };
}`;

/**
 * Gives tRPC the object spread of JavaScript. It is published with one for older engines, which goes
 * over the keys of every object by hand, several times a call. The build fails where the helper is
 * not found any more, so that a new release of tRPC is noticed.
 */
export function nativeSpread(): Plugin {
  return {
    name: 'native-spread',
    setup(build) {
      let replaced = 0;
      build.onLoad({ filter: /@trpc\/server\/dist\/.*\.mjs$/ }, async ({ path }) => {
        const contents = (await readFile(path, 'utf8')).replace(HELPER, () => {
          replaced++;
          return NATIVE;
        });
        return { contents, loader: 'js' };
      });
      build.onEnd(() => {
        if (replaced === 1) return;
        throw new Error(`tRPC's helper for object spreads was found ${replaced} times, not once.`);
      });
    },
  };
}
