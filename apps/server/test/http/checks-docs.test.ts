import { expect, test } from 'vitest';
import { checksPage } from './checks-page.ts';

test('docs/checks.md has every route with its checks', async () => {
  // `npm test -- docs.test.ts -u` writes it again.
  await expect(await checksPage()).toMatchFileSnapshot('../../../../docs/checks.md');
});
