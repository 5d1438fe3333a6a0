import { test } from 'vitest';

test('in a slow file of another project', () => undefined);
