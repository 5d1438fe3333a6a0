import { expect, test } from 'vitest';
import { objectTypes } from '../test/object-types.ts';

// `npm test -- packages/schema/src/types -u` writes them again.
test('the types are those of the objects', async () => {
  await expect(await objectTypes()).toMatchFileSnapshot('./types.ts');
});
