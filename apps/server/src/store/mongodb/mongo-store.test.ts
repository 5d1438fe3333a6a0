import { describe, inject, test } from 'vitest';
import { describeStore } from '../store.suite.ts';
import { mongoHarness } from './mongo-harness.ts';

const url = inject('mongodbUrl');

if (url) describeStore('MongoDB', mongoHarness(url));
else describe.skip('MongoDB (not run: there is none)', () => test('keeps the promises'));
