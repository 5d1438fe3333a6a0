import { expect, test } from 'vitest';
import { recordedExamples } from './examples.ts';

test('the examples of the OpenAPI document are what the service answers', async () => {
  // `npm test -- test/openapi/examples -u` records them again.
  await expect(await recordedExamples()).toMatchFileSnapshot('../../src/openapi/examples.json');
});
