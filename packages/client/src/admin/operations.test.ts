import { expect, test } from 'vitest';
import { operatorCalls, operatorMethods } from '../../test/operator-methods.ts';

// `npm test -- packages/client/src/admin -u` writes them again.
test('the methods are those of the table of operations', async () => {
  await expect(await operatorMethods()).toMatchFileSnapshot('./operations.ts');
  await expect(await operatorCalls()).toMatchFileSnapshot('./operator-calls.ts');
});
