import { describe, expect, it } from 'vitest';
import { errorCodes, errorDefinition } from './errors.ts';

describe.each(errorCodes)('%s', (code) => {
  const row = errorDefinition(code);

  it('is named as a code is', () => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  it('has the word that OAuth has for its status', () => {
    const words: Record<number, string[]> = {
      400: ['invalid_request', 'invalid_grant'],
      401: ['invalid_client'],
      404: ['invalid_request', 'invalid_grant'],
      405: ['invalid_request'],
      409: ['invalid_request', 'invalid_grant'],
      413: ['invalid_request'],
      415: ['invalid_request'],
      429: ['temporarily_unavailable'],
      500: ['server_error'],
      503: ['temporarily_unavailable'],
    };
    expect(words[row.status]).toContain(row.error);
  });

  it('says what to do in whole sentences', () => {
    expect(row.title).toMatch(/^[A-Z].*[^.]$/);
    for (const text of [row.description, row.help]) expect(text).toMatch(/^[A-Z`].*\.$/s);
    expect(row.description.split('. ').length).toBeGreaterThan(1);
  });

  it('tells when to try again exactly where that can help', () => {
    expect(row.retryAfter !== undefined).toBe(row.error === 'temporarily_unavailable');
  });
});

it('has a member beyond the five only where the contract names one', () => {
  const members = errorCodes.flatMap((code) => {
    const { members } = errorDefinition(code);
    return members ? [[code, members]] : [];
  });
  expect(members).toEqual([
    ['parameter_invalid', ['issues']],
    ['code_already_used', ['grant_id']],
    ['outcome_unknown', ['grant_id']],
  ]);
});
