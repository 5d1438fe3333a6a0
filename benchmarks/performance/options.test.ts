import { expect, test } from 'vitest';
import { readOptions } from './options.ts';

const read = (words: string) =>
  readOptions(words.split(' ').filter(Boolean), ['comparison', 'memory']);

test.each([
  ['', { task: 'benchmarks', names: ['comparison', 'memory'], quick: false, check: false }],
  ['--quick --check', { task: 'benchmarks', names: ['comparison'], quick: true, check: true }],
  ['--quick --only memory', { task: 'benchmarks', names: ['memory'], quick: true }],
  ['--profile --mongodb mongodb://x', { task: 'profile', mongodb: 'mongodb://x' }],
  ['--against ../before', { task: 'against', path: '../before', pairs: 15 }],
  ['--against . --pairs 2 --output x.md', { task: 'against', pairs: 2, output: 'x.md' }],
])('%s', (words, options) => {
  expect(read(words)).toMatchObject(options);
});

test.each([
  ['--againts ../before', /^Unknown option '--againts'\. There are these options: --only, --quick/],
  ['../before', /^Unexpected argument '\.\.\/before'\. There are these options: /],
  ['--against', /'--against <value>' argument missing\. There are these options: /],
  ['--only size', /^There is no benchmark 'size'\. Use --only with one of: comparison, memory\.$/],
  ['--pairs 15', /^--pairs needs --against PATH beside it\.$/],
  ['--output x.md', /^--output needs --against PATH beside it\.$/],
  ['--against . --quick', /^--against runs alone: leave --quick out\.$/],
  ['--against . --only memory', /^--against runs alone: leave --only out\.$/],
  ['--against . --pairs 1', /^--pairs takes a whole number of at least 2/],
  ['--against . --pairs 2.5', /^--pairs takes a whole number of at least 2/],
  ['--against . --pairs many', /^--pairs takes a whole number of at least 2/],
])('%s is refused with what to do', (words, message) => {
  expect(() => read(words)).toThrow(message);
});
