import { describe, expect, test } from 'vitest';
import { firstGenerations, generationsAfter, isOver, sinceOf } from './generations.ts';
import type { ApplicationChanges } from './records.ts';

type Change = ApplicationChanges & { disabled?: boolean };

/** Since which generation each name is there after the changes, and the generation now. */
function after(changes: Change[], { scopes = null }: { scopes?: string[] | null } = {}) {
  let application: Parameters<typeof generationsAfter>[0] = {
    ...{ redirect_uris: ['u'], scopes, document: null, generations: firstGenerations },
  };
  for (const change of changes) {
    const generations = generationsAfter(application, change);
    application = { ...application, ...change, generations };
  }
  const { now, disabled, redirect_uris, scopes: allowed } = application.generations;
  const since = (name: string) => sinceOf(allowed, name);
  return { application, now, disabled, since, uri: (name: string) => sinceOf(redirect_uris, name) };
}

describe('a generation', () => {
  test('begins with each disabling, and with what is taken away', () => {
    expect(after([{ name: 'x' }, { disabled: false }, { redirect_uris: ['u', 'v'] }]).now).toBe(0);
    expect(after([{ disabled: true }])).toMatchObject({ now: 1, disabled: 1 });
    expect(after([{ disabled: true }, { disabled: true }])).toMatchObject({ now: 2, disabled: 2 });
    const removed = after([{ redirect_uris: [] }]);
    expect(removed).toMatchObject({ now: 1, disabled: 0 });
    expect(isOver({ generation: 0 }, removed.application)).toBe(false);
    expect(isOver({ generation: 0 }, after([{ disabled: true }]).application)).toBe(true);
  });

  test('tells since when a redirect URI is there', () => {
    const { uri } = after([{ redirect_uris: ['v'] }, { redirect_uris: ['u', 'v'] }]);
    expect([uri('u'), uri('v')]).toEqual([1, 1]);
    const kept = after([{ redirect_uris: ['u', 'v'] }, { redirect_uris: ['u'] }]);
    expect([kept.uri('u'), kept.now]).toEqual([0, 1]);
    // As many as there are, however often they change.
    const often = Array.from({ length: 9 }, (_, turn) => ({ redirect_uris: [`u${turn}`] }));
    expect(after(often).application.generations.redirect_uris.named).toHaveLength(1);
  });

  test('tells since when a scope is there, in a list and without one', () => {
    const narrowed = after([{ scopes: ['a'] }, { scopes: ['a', 'b'] }]);
    expect([narrowed.since('a'), narrowed.since('b'), narrowed.now]).toEqual([0, 1, 1]);
    const widened = after([{ scopes: ['a'] }, { scopes: null }]);
    expect([widened.since('a'), widened.since('b'), widened.now]).toEqual([0, 1, 1]);
    const again = after([{ scopes: null }, { scopes: ['b'] }, { scopes: null }], { scopes: ['a'] });
    // It was taken away by the second change.
    expect([again.since('a'), again.since('b'), again.now]).toEqual([1, 0, 1]);
    const swapped = after([{ scopes: ['b'] }, { scopes: ['a'] }], { scopes: ['a'] });
    expect([swapped.since('a'), swapped.now]).toEqual([2, 2]);
  });
});
