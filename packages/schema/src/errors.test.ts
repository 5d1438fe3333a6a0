import { describe, expect, it } from 'vitest';
import { errorCodes, errorDefinition } from './errors.ts';

describe.each(errorCodes)('%s', (code) => {
  const row = errorDefinition(code);

  it('has a snake_case name', () => {
    expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  it('has an OAuth word that fits its status', () => {
    const words: Record<number, string[]> = {
      303: ['access_denied', 'invalid_request', 'unsupported_response_type'],
      400: [
        'invalid_client',
        'invalid_client_metadata',
        'invalid_grant',
        'invalid_redirect_uri',
        'invalid_request',
        'invalid_scope',
        'invalid_target',
        'unsupported_grant_type',
      ],
      401: ['invalid_client'],
      403: ['unauthorized_client', 'invalid_request', 'insufficient_scope'],
      404: ['invalid_request', 'invalid_grant'],
      405: ['invalid_request'],
      409: ['invalid_request', 'invalid_grant'],
      410: ['invalid_request'],
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
    // That of `parameter_invalid` follows its first issue.
    const least = row.members?.includes('issues') ? 1 : 2;
    expect(row.description.split('. ').length).toBeGreaterThanOrEqual(least);
  });

  // RFC 6749, section 5.2: %x20-21 / %x23-5B / %x5D-7E. Redirects carry the text in a query, too.
  it('has a description of the characters that OAuth allows', () => {
    expect(row.description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  it('has a Retry-After exactly if a retry can help', () => {
    // Nobody waits for a page that was asked for in advance.
    const canHelp = row.error === 'temporarily_unavailable' && code !== 'prefetch_refused';
    expect(row.retryAfter !== undefined).toBe(canHelp);
  });
});

it('has extra members only where the contract names them', () => {
  const members = errorCodes.flatMap((code) => {
    const { members } = errorDefinition(code);
    return members ? [[code, members]] : [];
  });
  expect(members).toEqual([
    ['parameter_invalid', ['issues']],
    ['code_already_used', ['grant_id']],
    ['registration_invalid', ['issues']],
    ['link_expired', ['redirect_to']],
    ['link_decided', ['status']],
    ['outcome_unknown', ['grant_id']],
  ]);
});
