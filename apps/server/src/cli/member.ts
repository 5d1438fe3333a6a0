import { readFileSync } from 'node:fs';
import { decodeJson } from '@latchkey/domain/decode-json';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { parseSince } from './time-options.ts';

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
  readonly properties?: Readonly<Record<string, MemberSchema>>;
}

export interface Member extends MemberSchema {
  readonly name: string;
  /** With dashes. Of a list of scopes, each option names one. */
  readonly word: string;
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

export type Members = ReadonlyMap<string, Member>;

export function membersOf(schema: z.core.JSONSchema.BaseSchema): Members {
  const { $ref = '', $defs = {}, ...own } = schema as ObjectSchema;
  const { properties = {}, required = [] } = $defs[$ref.replace('#/$defs/', '')] ?? own;
  const members = new Map<string, Member>();
  for (const [name, { anyOf, type, ...rest }] of Object.entries(properties)) {
    let isNullable = false;
    let inner: MemberSchema | undefined;
    for (const each of anyOf ?? [type].flat()) {
      const one = typeof each === 'object' ? each : { type: each as string };
      if (one.type === 'null') isNullable = true;
      else inner ??= one;
    }
    const isRequired = required.includes(name);
    const one = inner?.type === 'array' ? name.replace(/s$/, '') : name;
    const word = one.replaceAll('_', '-').replace(/^application\b/, 'app');
    members.set(name, { ...inner, ...rest, name, word, isNullable, isRequired });
  }
  return members;
}

/** Without dashes. What an option takes says what kind of a thing it is. */
export const optionName = ({ word }: Member) =>
  word.replace(/(?<!redirect)-uri$|(?<!external)-id$|-at$|-seconds$/, '');

/** An id with a label, or a list of these: one value of an option gives `ID=LABEL`. */
function pairIn(schema: MemberSchema | undefined): MemberSchema | undefined {
  const { id, label } = schema?.properties ?? {};
  return id && label ? schema : schema?.items && pairIn(schema.items);
}

const parsePair = (text: string) => {
  const [id, label] = text.split(/=(.*)/s, 2);
  return { id, ...(label !== undefined && { label }) };
};

/** What stands for its value. */
export function placeholder(member: Member): string {
  const { word, type, format } = member;
  if (pairIn(member)) return 'id=label';
  if (format === 'uuid') return word;
  if (format === 'date-time') return 'time';
  if (type === 'integer') return 'number';
  if (type === 'object') return 'file';
  return word.split('-').at(-1) as string;
}

export function exampleOf(member: Member): string {
  const { examples, items, enum: values, format, minimum, type } = member;
  const { id, label } = pairIn(member)?.properties ?? {};
  if (id && label) return `'${id.examples?.[0]}=${label.examples?.[0]}'`;
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
const WHAT_FALSE_MEANS = /; false (?:for|to) (?<meaning>[^.;]*)/;

/** What stands in the place of null: "never", "every described one". */
export const meaningOfNull = ({ description = '' }: MemberSchema) =>
  WHAT_NULL_MEANS.exec(description)?.groups?.meaning ?? 'none';

export const inHelp = (sentences: string) =>
  sentences.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()).replace(/\.$/, '');

const listOf = (values: readonly string[]) => values.join(', ').replace(/, (?=[^,]*$)/, ' or ');

export function describeMember(member: Member): string {
  const { type, format, description = '', examples, minimum, maximum } = member;
  const values = member.enum ?? member.items?.enum ?? [];
  const meant = description.replace(WHAT_NULL_MEANS, '').replace(WHAT_FALSE_MEANS, '');
  const text = inHelp(meant).replace(/^whether /, '');
  const byDefault = member.default === null ? meaningOfNull(member) : member.default;
  const saysDefault = member.default === null ? byDefault !== 'none' : type === 'integer';
  return [
    text,
    ...(values.every((value) => text.includes(value)) ? [] : [`; ${listOf(values)}`]),
    ...(type === 'integer' && maximum !== undefined ? [`; ${minimum} to ${maximum}`] : []),
    ...(type === 'array' ? ['; may be repeated'] : []),
    ...(type === 'object' && !pairIn(member) ? ['; a file of JSON'] : []),
    ...(format === 'date-time' ? [`; for example ${examples?.[0]}`] : []),
    ...(saysDefault && byDefault !== undefined ? [` (default: ${byDefault})`] : []),
  ].join('');
}

export const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');

/** An option, and what a member becomes by it. */
export interface MemberOption {
  readonly member: Member;
  readonly option: Option;
  /** What it says if it takes no value. */
  readonly means?: boolean | null;
  /** The member of an object that it gives. Default: all of it. */
  readonly part?: string;
  /** For help. */
  describe(): string;
}

/** Other text stays as it is, so that the operation says what is wrong with it. */
const parseNumber = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

function parserOf(member: Member): (text: string) => unknown {
  if (pairIn(member)) return parsePair;
  if (member.type === 'integer') return parseNumber;
  return member.name === 'since' ? parseSince : (text) => text;
}

/** @param keepsOmitted - whether what is left out stays as it is, so that each value needs an option */
export function optionsOf(member: Member, keepsOmitted: boolean): MemberOption[] {
  const { type, isRequired, isNullable } = member;
  if (type === 'boolean') return switchesOf(member, keepsOmitted);
  const isQuestion = pairIn(member.properties?.options) !== undefined;
  if (isQuestion) return partsOf(member);
  const flags = `--${optionName(member)} <${placeholder(member)}>`;
  const option = new Option(flags).makeOptionMandatory(isRequired);
  const parse = parserOf(member);
  if (type === 'array') {
    option.argParser<unknown[]>((text, earlier = []) => [...earlier, parse(text)]);
  } else {
    option.argParser(parse);
  }
  const own = { member, option, describe: () => describeMember(member) };
  return keepsOmitted && isNullable ? [own, nullOption(member)] : [own];
}

/** Of an object with options: they have its name, and the rest has it in front. */
function partsOf(member: Member): MemberOption[] {
  return Object.entries(member.properties ?? {}).flatMap(([part, schema]) => {
    const word = part === 'options' ? member.word : `${member.word}-${part}`;
    const own = { ...schema, name: part, word, isRequired: false, isNullable: false };
    return optionsOf(own, false).map((each) => ({ ...each, member, part }));
  });
}

function nullOption(member: Member): MemberOption {
  const meaning = meaningOfNull(member);
  const isAll = /^(?:all|every)/.test(meaning);
  const plural = member.type === 'array' ? `${optionName(member)}s` : optionName(member);
  const given = isAll ? member.name.replaceAll('_', '-') : plural;
  const option = new Option(`--${isAll ? 'all' : 'no'}-${given}`);
  const own = new Option(`--${optionName(member)} <value>`).attributeName();
  if (option.attributeName() !== own) option.conflicts(own);
  return {
    member,
    option,
    means: null,
    describe: () => `instead of --${optionName(member)}: ${meaning}`,
  };
}

/** `--no-disabled` would say it twice. */
const VERBS: Readonly<Record<string, readonly [on: string, off: string]>> = {
  disabled: ['disable', 'enable'],
};

function switchesOf(member: Member, keepsOmitted: boolean): MemberOption[] {
  const name = optionName(member);
  const [on, off] = VERBS[member.name] ?? [name, `no-${name}`];
  const positive = new Option(`--${on}`);
  const isAlone = member.default === true;
  const negative = new Option(`--${off}`);
  if (VERBS[member.name] !== undefined) negative.conflicts(positive.attributeName());
  const offered: MemberOption[] = [];
  if (!isAlone) {
    const describe = () => describeMember(member);
    offered.push({ member, option: positive, means: true, describe });
  }
  if (isAlone || keepsOmitted) {
    const describe = () =>
      isAlone
        ? `without this option, ${describeMember(member)}`
        : (WHAT_FALSE_MEANS.exec(member.description ?? '')?.groups?.meaning ??
          `the opposite of --${on}`);
    offered.push({ member, option: negative, means: false, describe });
  }
  return offered;
}

export function inputFrom(
  command: Command,
  options: readonly MemberOption[],
): Record<string, unknown> {
  const values = command.opts();
  const input: Record<string, unknown> = {};
  const parts = options.filter(({ part }) => part !== undefined);
  const missing = parts.filter(({ option }) => values[option.attributeName()] === undefined);
  if (missing.length > 0 && missing.length < parts.length) {
    command.error(
      `error: give ${parts.map(({ option }) => option.long).join(' and ')}, or neither`,
    );
  }
  for (const { member, option, means, part } of options) {
    const given = values[option.attributeName()];
    if (part !== undefined && given !== undefined) {
      input[member.name] = { ...Object(input[member.name]), [part]: given };
    } else if (means !== undefined) {
      // An option that begins with `no-` is false if it is given.
      if (given === !option.negate) input[member.name] = means;
    } else if (given !== undefined && given !== false) {
      const isFile = member.type === 'object' && !pairIn(member);
      input[member.name] = isFile ? readJson(command, option.long ?? '', given) : given;
    }
  }
  return input;
}

/** @param place - where the command line names the file */
export function readJson(command: Command, place: string, file: string): unknown {
  let why = 'is not a JSON object';
  try {
    const value = decodeJson(readFileSync(file, 'utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
  }
  return command.error(`error: the file of '${place}', ${file}, ${why}`);
}
