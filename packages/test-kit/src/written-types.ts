import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import type { z } from 'zod';

// Writes TypeScript from JSON Schemas, for the files that are generated from the zod schemas. Types
// that TypeScript infers from them would have no names and no docstrings in the published `.d.ts`.

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** @param describe - returns the docstring of a member */
export function typeWriter(describe: (name: string, schema: JsonSchema) => string) {
  /** Members that can have one value only need no docstring. */
  const docsOf = (name: string, schema: JsonSchema) =>
    schema.const === undefined && schema.type !== 'null'
      ? `${docs([describe(name, schema)])}\n`
      : '';

  function objectType({ properties = {}, required = [] }: JsonSchema): string {
    const members = Object.entries(properties).map(([name, value]) => {
      const schema = value as JsonSchema;
      const [mark, orUndefined] = required.includes(name) ? ['', ''] : ['?', ' | undefined'];
      return `${docsOf(name, schema)}${name}${mark}: ${typeOf(schema)}${orUndefined};`;
    });
    return `{\n${members.join('\n')}\n}`;
  }

  function typeOf(schema: JsonSchema): string {
    const { $ref, type, anyOf, items, additionalProperties } = schema;
    if ($ref) return $ref.replace(/^.*\//, '');
    if (anyOf) return anyOf.map((each) => typeOf(each as JsonSchema)).join(' | ');
    if (schema.const !== undefined) return literal(schema.const);
    if (schema.enum) return schema.enum.map(literal).join(' | ');
    if (Array.isArray(type)) return type.join(' | ');
    if (type === 'array') {
      const item = typeOf(items as JsonSchema);
      return / \| /.test(item) ? `(${item})[]` : `${item}[]`;
    }
    if (type === 'integer') return 'number';
    if (type !== 'object') return (type as string | undefined) ?? 'unknown';
    if (typeof additionalProperties !== 'object') return objectType(schema);
    return `Record<string, ${typeOf(additionalProperties as JsonSchema)}>`;
  }

  return { objectType, typeOf };
}

/** The types that the type of an object is written with: its own, or that of a list and that of its entries. */
export function typeNames(schema: z.ZodType): [name: string, entry?: string] {
  const { object, data, next_cursor, ...own } = (schema as z.ZodObject).shape ?? {};
  const idOf = (named: z.ZodType) => named.meta()?.id as string;
  const isList = (object as z.ZodLiteral | undefined)?.value === 'list';
  if (!isList || Object.keys(own).length > 0) return [idOf(schema)];
  const isComplete = (next_cursor as z.ZodType).type === 'null';
  return [isComplete ? 'CompleteList' : 'List', idOf((data as z.ZodArray<z.ZodType>).element)];
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

/** A docstring of these paragraphs. */
export function docs(paragraphs: readonly string[]): string {
  const [only = '', ...others] = paragraphs.flatMap(wrap);
  if (others.length === 0) return `/** ${only} */`;
  return `/**\n${[only, ...others].map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */`;
}

// The width of the lines, without the indentation.
const WIDTH = 95;

/** Breaks a paragraph into lines. Programs have an indentation, or are short. */
function wrap(line: string): string[] {
  const lines: string[] = [];
  for (const word of line.split(/(?<=\S) /)) {
    const [last] = lines.slice(-1);
    if (last === undefined || `${last} ${word}`.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Formats code as the rest of the repository. */
export async function format(code: string): Promise<string> {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const child = execFile(process.execPath, [biome, 'format', '--stdin-file-path=written.ts']);
  child.stdin?.end(code);
  return text(child.stdout as NodeJS.ReadableStream);
}
