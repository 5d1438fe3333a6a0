import { test } from 'vitest';
import { failAtFirst } from './attempts.ts';

test('that always fails', () => failAtFirst('always', Number.POSITIVE_INFINITY));
