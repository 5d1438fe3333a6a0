import { DomainError } from '@latchkey/domain/domain-error';
import { operations } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { errorText, textOf } from './error-texts.ts';

const ofOperators = Object.values(operations).filter(({ caller }) => caller === 'operator');
const codes = new Set([
  ...ofOperators.flatMap(({ errors }) => errors),
  ...(['parameter_invalid', 'store_unavailable', 'outcome_unknown', 'internal_error'] as const),
]);

test.each([...codes])('%s is told in the words of a terminal', (code) => {
  expect(textOf(code)).not.toMatch(
    /Retry-After|header|Authorization|\bbody|members?\b|issues|(?<!link )request|\b(GET|POST|PUT|PATCH|DELETE) |[a-z]_(id|at|uri|to)\b/,
  );
});

test('an ill-formed parameter has the name that the command line gives it', () => {
  const issues = [
    { path: ['--expires'], message: 'Must be a time.' },
    { path: ['application_id'], message: 'Must be a UUID.' },
    { path: ['grant_id', 1], message: 'Must be a UUID.' },
    { path: ['constructor'], message: 'Is unknown.' },
  ];
  expect(errorText(new DomainError('parameter_invalid', { issues }))).toBe(
    `parameter_invalid: ${textOf('parameter_invalid')}
  --expires: Must be a time.
  application id: Must be a UUID.
  grant id 2: Must be a UUID.
  constructor: Is unknown.
`,
  );
});
