import {
  docs,
  format,
  type JsonSchema,
  typeNames,
  typeWriter,
} from '@latchkey/test-kit/written-types';
import { z } from 'zod';
import { errorCodes } from '../src/errors.ts';
import * as events from '../src/events.ts';
import * as objects from '../src/objects.ts';

const described: Record<string, z.ZodType> = { ...objects, ...events };

/**
 * The text of src/types.ts: the codes of src/errors.ts, and a type for each object of src/objects.ts and
 * src/events.ts.
 */
export async function objectTypes(): Promise<string> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: (id) => id });
  const types = Object.entries(schemas)
    .filter(([id, schema]) => byId.has(id) && !isList(schema) && !isEmpty(schema))
    .map(([id, schema]) => namedType(id, schema));
  const { ApplicationList, ScopeList } = schemas as Record<string, JsonSchema>;
  const lists = [
    listType('List', ApplicationList, ApplicationList?.description),
    listType('CompleteList', ScopeList, 'A list that is complete.'),
  ];
  return format(`// Made from errors.ts, objects.ts and events.ts: npm run generate

${docs(['Every `error_code` that this version knows.'])}
export type ErrorCode = ${errorCodes.map((code) => `'${code}'`).join(' | ')};

${[...types, ...lists].join('\n\n')}
`);
}

/** The text of test/written-types.ts: which type is of which schema. */
export async function typesOfSchemas(): Promise<string> {
  const members = Object.entries(described)
    .map(([name, schema]) => `${name}: ${nameOf(schema)};`)
    .sort();
  return format(`// Made from objects.ts and events.ts: npm run generate

import type * as types from '../src/types.ts';

export interface WrittenTypes {\n${members.join('\n')}\n}
`);
}

function nameOf(schema: z.ZodType): string {
  const { shape } = schema as z.ZodObject;
  if (shape !== undefined && Object.keys(shape).length === 0) return 'Record<string, never>';
  const [name, entry] = typeNames(schema);
  return entry === undefined ? `types.${name}` : `types.${name}<types.${entry}>`;
}

/** Every object by its name. */
const byId = new Map(
  Object.values(described).map((schema) => [z.globalRegistry.get(schema)?.id, schema]),
);

const constant = (schema: unknown) => (schema as JsonSchema | undefined)?.const;
/** One with members of its own has a type of its own. */
const isList = ({ properties = {} }: JsonSchema) =>
  constant(properties.object) === 'list' && Object.keys(properties).length === 3;
const isEmpty = ({ type, properties = {} }: JsonSchema) =>
  type === 'object' && Object.keys(properties).length === 0;

function namedType(id: string, schema: JsonSchema): string {
  const start = `${docs([schema.description ?? ''])}\nexport`;
  if (schema.type !== 'object') return `${start} type ${id} = ${typeOf(schema)};`;
  const base = baseOf(byId.get(id) as z.ZodObject);
  if (base === undefined) return `${start} interface ${id} ${objectType(schema)}`;
  const own = Object.entries(schema.properties ?? {}).filter(([name]) => !(name in base.shape));
  const rest = { ...schema, properties: Object.fromEntries(own) };
  return `${start} interface ${id} extends ${base.meta()?.id} ${objectType(rest)}`;
}

/** The object that another one was extended from: it has all of its members, and others. */
function baseOf(schema: z.ZodObject): z.ZodObject | undefined {
  return [...byId.values()]
    .filter((other) => other instanceof z.ZodObject && other !== schema)
    .map((other) => other as z.ZodObject)
    .find(({ shape }) => {
      const members = Object.entries(shape);
      return members.length > 0 && members.every(([name, of]) => schema.shape[name] === of);
    });
}

function listType(name: string, schema: JsonSchema | undefined, description = ''): string {
  const data = { ...(schema?.properties?.data as JsonSchema), items: { $ref: 'Item' } };
  const generic = { ...schema, properties: { ...schema?.properties, data } };
  return `${docs([description])}\nexport interface ${name}<Item> ${objectType(generic)}`;
}

const FORMATS: Record<string, string> = {
  uuid: ' A UUID in lower case.',
  'date-time': ' ISO 8601, such as `2026-11-21T02:15:30.123+00:00`.',
};

const { objectType, typeOf } = typeWriter((name, { description, format, anyOf }) => {
  if (description === undefined) throw new Error(`There is no description of ${name}.`);
  const [first] = (anyOf ?? []) as JsonSchema[];
  return description + (FORMATS[format ?? first?.format ?? ''] ?? '');
});
