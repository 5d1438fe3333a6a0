import { test } from 'vitest';

test('in a slow file', () => undefined);
