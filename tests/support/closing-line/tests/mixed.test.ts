import { slow } from '@latchkey/test-kit/long';
import { describe, test } from 'vitest';

test('every day', () => undefined);
test('a slow test', slow, () => undefined);
describe('a slow suite', { ...slow, timeout: 1_000 }, () => {
  test('in it', () => undefined);
});
describe('a suite (not run: there is no tool)', () => {
  test.skip('in it', () => undefined);
});
describe('another suite', () => {
  test('in it', ({ skip }) => skip('there is no database'));
  test.skip('of a kind (not run: there is no browser)', () => undefined);
});
