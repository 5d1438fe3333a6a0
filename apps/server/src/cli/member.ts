import type { z } from 'zod';

/** What JSON Schema says of a member, also of one that may be null. */
export interface MemberSchema {
  readonly type?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: MemberSchema;
}

export interface Member extends MemberSchema {
  readonly name: string;
  readonly isRequired: boolean;
  readonly isNullable: boolean;
}

/** Null is one of several types, or of several schemas. */
interface PropertySchema extends Omit<MemberSchema, 'type'> {
  type?: string | readonly string[];
  anyOf?: readonly MemberSchema[];
}

/** zod's own types of JSON Schema allow any member of any version. */
interface ObjectSchema {
  properties?: Record<string, PropertySchema>;
  required?: readonly string[];
  /** An object with a name of its own stands among the definitions. */
  $ref?: string;
  $defs?: Record<string, ObjectSchema>;
}

export function membersOf(schema: z.core.JSONSchema.BaseSchema): Member[] {
  const { $ref = '', $defs = {}, ...own } = schema as ObjectSchema;
  const { properties = {}, required = [] } = $defs[$ref.replace('#/$defs/', '')] ?? own;
  const members: Member[] = [];
  for (const [name, { anyOf, type, ...rest }] of Object.entries(properties)) {
    let isNullable = false;
    let inner: MemberSchema | undefined;
    for (const each of anyOf ?? [type].flat()) {
      const one = typeof each === 'object' ? each : { type: each as string };
      if (one.type === 'null') isNullable = true;
      else inner ??= one;
    }
    members.push({ ...inner, ...rest, name, isNullable, isRequired: required.includes(name) });
  }
  return members;
}

const wordsOf = (name: string) => name.replaceAll('_', '-').replace(/^application\b/, 'app');

/** Of a list of scopes, each option names one. */
const singular = ({ name, type }: Member) => (type === 'array' ? name.replace(/s$/, '') : name);

/** Without dashes. What an option takes says what kind of a thing it is. */
export const optionName = (member: Member) =>
  wordsOf(singular(member).replace(/(?<!redirect)_uri$|(?<!external)_id$|_at$|_seconds$/, ''));

/** What stands for its value. */
export function placeholder(member: Member): string {
  const { name, type, format } = member;
  if (format === 'uuid') return wordsOf(name);
  if (format === 'date-time') return 'time';
  if (type === 'integer') return 'number';
  if (type === 'object') return 'file';
  return singular(member).split('_').at(-1) as string;
}

export function exampleOf(member: Member): string {
  const { examples, items, enum: values, format, minimum, type } = member;
  const [example] = examples ?? items?.examples ?? values ?? items?.enum ?? [minimum];
  const isMadeUp = example === undefined || format === 'uuid' || isCredential(member);
  if (isMadeUp) return placeholder(member).replaceAll('-', '_').toUpperCase();
  const text = type === 'object' ? `${member.name}.json` : String(example);
  return /[^\w.:/-]/.test(text) ? `'${text}'` : text;
}

/** Shell histories and process lists show arguments. */
export const isCredential = ({ examples: [example] = [] }: Member) =>
  typeof example === 'string' && example.startsWith('lk_');

const WHAT_NULL_MEANS = /; null (?:for|if it) (?<meaning>never|[^.;]*)[^.;]*/;

/** What stands in the place of null: "never", "every described one". */
export const meaningOfNull = ({ description = '' }: MemberSchema) =>
  WHAT_NULL_MEANS.exec(description)?.groups?.meaning ?? 'none';

export const inHelp = (sentences: string) =>
  sentences.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()).replace(/\.$/, '');

const listOf = (values: readonly string[]) => values.join(', ').replace(/, (?=[^,]*$)/, ' or ');

export function describeMember(member: Member): string {
  const { name, type, minimum, maximum, default: byDefault } = member;
  const description = member.description ?? `the ${name.replace(/_id$/, '').replaceAll('_', ' ')}`;
  const values = member.enum ?? member.items?.enum;
  const text = inHelp(description.replace(WHAT_NULL_MEANS, '')).replace(/^whether /, '');
  return [
    text,
    ...(values === undefined ? [] : [`; ${listOf(values)}`]),
    ...(type === 'integer' && maximum !== undefined ? [`; ${minimum} to ${maximum}`] : []),
    ...(type === 'array' ? ['; may be repeated'] : []),
    ...(type === 'object' ? ['; a file of JSON'] : []),
    ...(type === 'integer' && byDefault != null ? [` (default: ${byDefault})`] : []),
  ].join('');
}

export const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');
