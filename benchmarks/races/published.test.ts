import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { rows } from '../../packages/race/src/index.ts';
import { page, pageOf, readResults } from './pages.ts';
import { findings, type Measurement, publishable, unpublished } from './published.ts';
import { report } from './report.ts';

const measured = (server: string): Measurement => ({
  ...{ server, store: 'PostgreSQL', versions: '1.0', date: '2026-12-31' },
  rows: {
    'race-pkce': { once: 93, 'more than once': 7 },
    'wrong-secret': { 'refused, and used up': 10 },
    'no-secret': { refused: 10 },
    replay: { 'refused, token revoked': 10 },
    'replay-no-secret': { 'refused, token revoked': 10 },
  },
});

test('no finding is written that the project of the server has not made public', () => {
  expect(publishable(measured('Some server')).rows).toEqual({
    ...measured('').rows,
    'race-pkce': 'run it yourself',
    'wrong-secret': 'run it yourself',
    'replay-no-secret': 'run it yourself',
  });
  const text = report([publishable(measured('Some server'))]);
  expect(text).toMatch(/\| run it yourself \| – +\| – +\| – +\|/);
  expect(text).not.toMatch(/\b(?:93|7)\b/);
});

test('a later run of the same versions does not undo what an earlier one found', () => {
  const earlier = publishable(measured('Some server'));
  const lucky = { ...measured('Some server'), rows: { 'race-pkce': { once: 100 } } };
  expect(publishable(lucky, earlier).rows['race-pkce']).toBe('run it yourself');
  const newer = { ...lucky, versions: '1.1' };
  expect(publishable(newer, earlier).rows['race-pkce']).toEqual({ once: 100 });
});

test('a number of a finding that is public links to where it is', () => {
  const { rows } = publishable(measured('Keycloak'));
  expect(rows['race-pkce']).toEqual({ once: 93, 'more than once': 7 });
  expect(report([publishable(measured('Keycloak'))])).toMatch(
    /\| 93 +\| 0 +\| \[7\]\(https:\/\/github\.com\/keycloak\/keycloak\/issues\/22448\) \| 0 +\|/,
  );
});

test('what was measured for the page has no other finding', async () => {
  const results = await readResults();
  expect(results.flatMap(unpublished)).toEqual([]);
  expect(results.length).toBeGreaterThan(0);
});

test('the page is what the script writes of it', async () => {
  expect(await readFile(page, 'utf8')).toBe(pageOf(await readResults()));
});

test('each finding is of a row, and names a thread of a project or a page of its documentation', () => {
  const ids = rows.map(({ id }) => id);
  for (const { row, url } of findings) {
    expect(ids).toContain(row);
    expect(url).toMatch(
      /^https:\/\/(?:github\.com\/[\w.-]+\/[\w.-]+\/(?:issues|pull)\/\d+$|docs\.)/,
    );
  }
});
