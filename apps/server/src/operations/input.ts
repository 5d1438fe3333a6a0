import { DomainError } from '@latchkey/domain/domain-error';
import type { ParameterIssue } from '@latchkey/schema';
import { z } from 'zod';
import type { Operation } from './operation.ts';

export interface InputShape {
  /** A query sends them as text. */
  integers: ReadonlySet<string>;
  booleans: ReadonlySet<string>;
  mayBeEmpty: boolean;
}

export function inputShape(operation: Operation, given: readonly string[]): InputShape {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input' });
  const ofType = (type: string) =>
    new Set(
      Object.entries(properties)
        .filter(([, schema]) => typeof schema === 'object' && schema.type === type)
        .map(([name]) => name),
    );
  return {
    integers: ofType('integer'),
    booleans: ofType('boolean'),
    mayBeEmpty: required.every((name) => given.includes(name)),
  };
}

// Texts in other languages have an issue each, and a body has room for a thousand of them.
export const MOST_ISSUES = 20;

const isName = (text: string) => /^\w{1,40}$/.test(text);

export const parameterInvalid = (error: z.ZodError): DomainError =>
  new DomainError('parameter_invalid', { issues: issuesOf(error) });

/** Names the place and the fault, never the value. */
export function issuesOf(error: z.ZodError): ParameterIssue[] {
  return error.issues.slice(0, MOST_ISSUES).map((issue) => ({
    path: [
      ...issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key)),
      // zod has one issue for all unknown members of an object. Only text that looks like a name is
      // repeated: anything else could be a credential.
      ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1).filter(isName) : []),
    ],
    message: issue.message,
  }));
}
