import type { ErrorMembers } from '@latchkey/domain/domain-error';
import type { ErrorCode } from '@latchkey/schema';
import recorded from './examples.json' with { type: 'json' };

export interface Example {
  input: Record<string, unknown>;
  /** None of a redirect. */
  output?: object;
  /** What only some errors have. */
  errors?: { [Code in ErrorCode]?: ErrorMembers };
}

/** @param name - of an operation, or of a route of OAuth: its `operationId` */
export function exampleOf(name: string): Example {
  const example = (recorded as Partial<Record<string, object>>)[name];
  if (example === undefined) throw new Error(`${name} has no example: run npm run generate.`);
  return example as Example;
}
