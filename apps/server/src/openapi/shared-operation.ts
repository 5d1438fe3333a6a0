import type { Role } from '@latchkey/schema';

interface MediaType {
  schema: object;
  example?: unknown;
  examples?: Record<string, unknown>;
}

type Content = Record<string, MediaType>;

interface Response {
  description?: string | undefined;
  headers: object;
  content: Content;
}

export interface DescribedOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: object[];
  'x-latchkey-roles'?: readonly Role[];
  parameters: object[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Response>;
}

/**
 * OpenAPI has one operation for each method and path, so this joins two that differ in the body.
 */
export function sharedOperation(
  one: DescribedOperation,
  other: DescribedOperation,
): DescribedOperation {
  const names = [one.operationId, other.operationId] as const;
  const content = (body: DescribedOperation['requestBody']) => body?.content ?? {};
  return {
    ...one,
    summary: `${one.summary}, or ${lowerFirst(other.summary)}`,
    description: `${one.description} ${other.description}`,
    security: distinct([...other.security, ...one.security]),
    parameters: distinct([...one.parameters, ...other.parameters]),
    requestBody: {
      required: true,
      content: sharedContent(content(one.requestBody), content(other.requestBody), names),
    },
    responses: byKey(one.responses, other.responses, (first, second) => ({
      ...first,
      description: distinct([first.description, second.description]).join(' Or: '),
      content: sharedContent(first.content, second.content, names),
    })),
  };
}

function sharedContent(one: Content, other: Content, names: readonly [string, string]): Content {
  return byKey(one, other, (first, second) => {
    const [firstExamples, secondExamples] = [first, second].map(({ example, examples }, i) =>
      example === undefined ? examples : { [names[i] as string]: { value: example } },
    );
    return {
      schema: sharedSchema(first.schema, second.schema),
      examples: { ...firstExamples, ...secondExamples },
    };
  });
}

function sharedSchema(one: object, other: object): object {
  const schemas = distinct([one, other]);
  return schemas.length === 1 ? one : { anyOf: schemas };
}

function byKey<Value>(
  one: Record<string, Value>,
  other: Record<string, Value>,
  together: (one: Value, other: Value) => Value,
): Record<string, Value> {
  const all = { ...other, ...one };
  for (const key of Object.keys(one)) {
    const [first, second] = [one[key], other[key]];
    if (first !== undefined && second !== undefined) all[key] = together(first, second);
  }
  return all;
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
