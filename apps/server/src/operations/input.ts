import { z } from 'zod';
import { DomainError } from '../domain-error.ts';
import type { Operation } from './operation.ts';

/** What the schema of an input says of its members, as both wires need it. */
export interface InputShape {
  /** Members that are whole numbers: a query has them as text. */
  integers: ReadonlySet<string>;
  /** Whether it can do without any member of a body, given those that the path has. */
  mayBeEmpty: boolean;
}

/**
 * @param given - members that come from elsewhere than the body
 */
export function inputShape(operation: Operation, given: readonly string[]): InputShape {
  const { properties = {}, required = [] } = z.toJSONSchema(operation.input, { io: 'input' });
  const integers = Object.entries(properties)
    .filter(([, schema]) => typeof schema === 'object' && schema.type === 'integer')
    .map(([name]) => name);
  return {
    integers: new Set(integers),
    mayBeEmpty: required.every((name) => given.includes(name)),
  };
}

/**
 * The members of a JSON input.
 *
 * @param raw - undefined where none was sent
 * @throws DomainError `body_malformed`: it is no JSON object, or is missing and may not be
 */
export function inputMembers(raw: unknown, mayBeEmpty: boolean): object {
  if (raw === undefined && mayBeEmpty) return {};
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    throw new DomainError('body_malformed');
  }
  return raw;
}
