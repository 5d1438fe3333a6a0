import { inputs, type OperationContract, operations } from '@latchkey/schema';
import {
  docs,
  format,
  type JsonSchema,
  typeNames,
  typeWriter,
} from '@latchkey/test-kit/written-types';
import { z } from 'zod';
import { errorClass } from '../src/error-classes.ts';

const PREFIX = 'admin.';

/** The operations of the operator, without the prefix of their names. */
const table: [name: string, operation: OperationContract][] = Object.entries(operations)
  .filter(([name]) => name.startsWith(PREFIX))
  .map(([name, operation]) => [name.slice(PREFIX.length), operation]);

const MADE = '// Made from the table of operations: npm run generate\n\n';

/** The text of src/admin/operations.ts: the types of the methods. */
export async function operatorMethods(): Promise<string> {
  const used = new Set<string>();
  const groups = group(table.map(([name]) => name.split('.')));
  const classes = groups.map((path) => groupInterface(path, used));
  const inputNames = new Set(table.map(([, { input }]) => inputName(input)));
  inputNames.delete(NO_INPUT);
  const parts = [...[...inputNames].sort().map(inputInterface), ...classes, baseClass(groups)];
  const named = namesIn(table.map(([, { output }]) => output));
  const exported = ['CompleteList', 'List', ...named].sort((a, b) => a.localeCompare(b, 'en'));
  return format(`${MADE}import type { ${[...used].sort().join(', ')} } from '@latchkey/schema';
import type { CallOptions } from '../options.ts';
import type { WithResponse } from '../response-details.ts';
import type { ListPromise } from './list-promise.ts';

export type { ${exported.join(', ')} } from '@latchkey/schema';

${parts.join('\n\n')}
`);
}

/** The text of src/admin/operator-calls.ts: how each operation is called. */
export async function operatorCalls(): Promise<string> {
  const rows = table.map(([name, { method, output }]) => {
    return `'${name}': ['${method === 'GET' ? 'GET' : 'POST'}', '${objectOf(output)}'],`;
  });
  return format(`${MADE}${docs(['The HTTP method of each operation, and the `object` of its result.'])}
    export const operatorCalls = {\n${rows.join('\n')}\n} as const;
`);
}

const capital = (word: string) => word[0]?.toUpperCase() + word.slice(1);
const lower = (sentence: string) => sentence[0]?.toLowerCase() + sentence.slice(1);
const withoutDot = (sentence: string) => sentence.replace(/\.$/, '');

/** Every path that has operations below it: `applications`, `applications.secrets`, … */
function group(names: string[][]): string[][] {
  const paths = new Set(
    names.flatMap((words) => words.slice(0, -1).map((_, end) => words.slice(0, end + 1).join('.'))),
  );
  return [...paths].map((path) => path.split('.'));
}

const groupName = (path: readonly string[]) => `${path.map(capital).join('')}Operations`;

function groupInterface(path: string[], used: Set<string>): string {
  const prefix = `${path.join('.')}.`;
  const members = table
    .filter(([name]) => name.startsWith(prefix) && !name.slice(prefix.length).includes('.'))
    .map(([name, operation]) => method(name, operation, used));
  const inner = group(table.map(([name]) => name.split('.')))
    .filter((other) => other.length === path.length + 1 && other.join('.').startsWith(prefix))
    .map(
      (other) => `${docs([`Operations on the ${describe(other)}.`])}
      readonly ${other.at(-1)}: ${groupName(other)};`,
    );
  return `${docs([`Operations on the ${describe(path)}.`])}
    export interface ${groupName(path)} {\n${[...members, ...inner].join('\n\n')}\n}`;
}

const describe = (path: readonly string[]) => [...path].reverse().join(' of ');

function baseClass(groups: string[][]): string {
  const members = groups
    .filter(({ length }) => length === 1)
    .map(
      (path) => `${docs([`Operations on the ${describe(path)}.`])}
      declare readonly ${path[0]}: ${groupName(path)};`,
    );
  return `${docs(['Every operation of the operator, as a method. {@link LatchkeyAdmin} has them.'])}
    export abstract class OperatorOperations {\n${members.join('\n\n')}\n
      protected constructor() {}\n}`;
}

function method(name: string, operation: OperationContract, used: Set<string>): string {
  const { summary, description, input, output, errors } = operation;
  const { properties = {}, required = [] } = jsonSchema(input);
  const takes = inputName(input);
  const returns = outputType(output, used);
  const filters = exactlyOneOf(input);
  const example = [...required, ...filters.slice(0, 1)].map(
    (key) => `${key}: ${literal(properties[key] as JsonSchema)}`,
  );
  const lines = [
    `${summary}. ${description}`,
    '',
    `@param input - ${takes === NO_INPUT ? 'nothing: it takes none' : 'what to send'}`,
    '@param options - options of this call',
    `@returns ${lower(withoutDot(output.meta()?.description ?? ''))}${isList(operation) ? '; with `for await`, every entry of every page' : ''}`,
    ...thrown(errors),
    '@throws a `LatchkeyError` as every method: see {@link LatchkeyAdmin}',
    '',
    '@example',
    '```ts',
    ...(isList(operation)
      ? `for await (const entry of admin.${name}(${argument(example)})) console.log(entry);`
      : `const ${resultName(output)} = await admin.${name}(${argument(example)});`
    ).split('\n'),
    '```',
  ];
  const isOptional = example.length === 0 ? '?' : '';
  const promiseOf = (result: string) =>
    isList(operation) ? `ListPromise<${result}>` : `Promise<WithResponse<${result}>>`;
  const signature = (asked: string, result: string) => `${docs(lines)}
    ${name.split('.').at(-1)}(input${isOptional}: ${asked}, options?: CallOptions): ${promiseOf(result)};`;
  const usual = usually[name];
  const first = usual && signature(`${takes} & ${usual.input}`, use(usual.output, used));
  return [...(first ? [first] : []), signature(takes, returns)].join('\n\n');
}

/** A narrower result of an input that most callers send. */
const usually: Record<string, { input: string; output: string } | undefined> = {
  'links.identify': { input: '{ own_page?: false | undefined }', output: 'LinkRedirect' },
};

const isList = ({ method, output }: OperationContract) =>
  method === 'GET' && objectOf(output) === 'list';

/** The kind of a result. */
const objectOf = (output: z.ZodType) =>
  ((output as z.ZodObject).shape.object as z.ZodLiteral).value;

/** The members of an input of which exactly one is given, which JSON Schema does not tell. */
function exactlyOneOf(input: z.ZodType): readonly string[] {
  if (input === inputs.grantListInput || input === inputs.grantFilterInput) {
    return ['account_id', 'application_id'];
  }
  return input === inputs.deliveryListInput ? ['endpoint_id', 'grant_id'] : [];
}

/** An object as it would be formatted. */
function argument(members: readonly string[]): string {
  if (members.length < 2) return members.map((member) => `{ ${member} }`).join('');
  return `{\n${members.map((member) => `  ${member},\n`).join('')}}`;
}

/** The errors of an operation, by class. */
function thrown(errors: OperationContract['errors']): string[] {
  const byClass = new Map<string, string[]>();
  for (const code of errors) {
    const { name } = errorClass({ error_code: code, status: 400, grant_id: 'its id' });
    byClass.set(name, [...(byClass.get(name) ?? []), `\`${code}\``]);
  }
  const list = new Intl.ListFormat('en', { type: 'disjunction' });
  return [...byClass].map(([name, codes]) => {
    const article = /^[AEIOU]/.test(name) ? 'an' : 'a';
    return `@throws ${article} \`${name}\` with ${list.format(codes)}`;
  });
}

/** A variable for a result in an example. */
function resultName(output: z.ZodType): string {
  const { redirect_to, url } = (output as z.ZodObject).shape;
  if (redirect_to) return '{ redirect_to }';
  return url ? '{ url }' : 'result';
}

const NO_INPUT = 'Record<string, never>';

/** The name of an input's type. */
function inputName(input: z.ZodType): string {
  if (input === inputs.emptyInput) return NO_INPUT;
  const [name] = Object.entries(inputs).find(([, value]) => value === input) ?? [];
  if (name === undefined) throw new Error('Every input is exported from the schema.');
  return capital(name);
}

function inputInterface(name: string): string {
  const schema = Object.entries(inputs).find(([key]) => capital(key) === name)?.[1];
  const users = table.filter(([, { input }]) => input === schema);
  const of = users.map(([operation]) => `\`${operation}\``).join(', ');
  const { properties = {}, required = [] } = jsonSchema(schema as z.ZodType);
  const either = exactlyOneOf(schema as z.ZodType);
  if (either.length === 0) {
    return `${docs([`The input of ${of}.`])}
    export interface ${name} ${objectType({ properties, required })}`;
  }
  const common = Object.entries(properties).filter(([key]) => !either.includes(key));
  const cases = either.map((key) => {
    const others = either.filter((other) => other !== key).map((other) => `${other}?: undefined;`);
    const only = objectType({
      properties: { [key]: properties[key] as JsonSchema },
      required: [key],
    });
    return only.replace(/\}$/, `${others.join('')}}`);
  });
  return `${docs([`The input of ${of}. It takes exactly one of ${either.map((key) => `\`${key}\``).join(' and ')}.`])}
    export type ${name} = ${common.length > 0 ? `${objectType({ properties: Object.fromEntries(common) })} & ` : ''}(${cases.join(' | ')});`;
}

function outputType(output: z.ZodType, used: Set<string>): string {
  const [name, entry] = typeNames(output);
  return entry === undefined ? use(name, used) : `${use(name, used)}<${use(entry, used)}>`;
}

/** The types of these results and of all that is in them. A list is named by its entries. */
function namesIn(outputs: readonly z.ZodType[]): Set<string> {
  const names = new Set<string>();
  const { schemas } = z.toJSONSchema(z.globalRegistry, { uri: (id) => id });
  const add = (id: string) => {
    const schema = schemas[id] as JsonSchema;
    if (names.has(id)) return;
    if ((schema.properties?.object as JsonSchema | undefined)?.const !== 'list') names.add(id);
    for (const [, inner = ''] of JSON.stringify(schema).matchAll(/"\$ref":"(\w+)"/g)) add(inner);
  };
  for (const output of outputs) add(output.meta()?.id as string);
  // The SDK exports it beside its errors.
  names.delete('ErrorCode');
  return names;
}

function use(name: string, used: Set<string>): string {
  used.add(name);
  return name;
}

const jsonSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;

const { objectType } = typeWriter((name, { description = sentence(name), default: standard }) =>
  standard === undefined || / Default: /.test(description)
    ? description
    : `${description} Default: ${JSON.stringify(standard)}.`,
);

/** `account_id`: "The account id." */
const sentence = (name: string) => `The ${name.replaceAll('_', ' ')}.`;

/** A value for an example. */
const literal = ({ examples, const: only }: JsonSchema) =>
  written(only ?? (examples as unknown[] | undefined)?.[0]);

/** A value as it would be formatted. */
function written(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(written).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return `'${value}'`;
  const members = Object.entries(value).map(([name, each]) => `${name}: ${written(each)}`);
  return `{ ${members.join(', ')} }`;
}
