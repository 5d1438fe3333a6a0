// Loaded into a program that is measured: prints on stderr how many modules it loaded, of the project
// and of its dependencies. What is part of Node does not count.
import { registerHooks } from 'node:module';

const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) loaded.add(url);
    return nextLoad(url, context);
  },
});
process.once('exit', () => process.stderr.write(`${loaded.size} modules\n`));
