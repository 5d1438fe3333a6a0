import { test } from 'vitest';

test('that passes', () => undefined);
test('another that passes', () => undefined);
