import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { environment, run } from './support/service.ts';

// `npm run release:rehearse` tests what publishing does. This is what it refuses.

const script = fileURLToPath(new URL('../scripts/release/publish.ts', import.meta.url));

test.each([[[]], [['--registry=no address']]])('publishes nowhere with %j', async (words) => {
  const ended = await run(process.execPath, [script, ...words], { env: environment() });
  expect(ended).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'Say where to publish: npm run release:publish -- --registry URL\n',
  });
});
