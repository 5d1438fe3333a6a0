import { slow } from '@latchkey/test-kit/long';
import { describe, test } from 'vitest';

test('every day', () => undefined);
test('a slow test', slow, () => undefined);
describe('a slow suite', { ...slow, timeout: 1_000 }, () => {
  test('in it', () => undefined);
});
describe('a suite that needs a tool', () => {
  test.skip('in it', () => undefined);
});
