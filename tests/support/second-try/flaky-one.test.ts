import { test } from 'vitest';
import { failAtFirst } from './attempts.ts';

test('that fails once', () => failAtFirst('one', 1));
