import { readFileSync } from 'node:fs';
import { decodeJson } from '@latchkey/domain/decode-json';
import { type Command, Option } from 'commander';
import { describeMember, type Member, meaningOfNull, optionName, placeholder } from './member.ts';
import { parsePastTime } from './time-options.ts';

/** An option, and what a member becomes by it. */
export interface MemberOption {
  readonly member: Member;
  readonly option: Option;
  read(given: unknown): unknown;
  /** For help. */
  describe(): string;
}

const collect = (value: string, earlier: string[] = []) => [...earlier, value];

/** Other text stays as it is, so that the operation says what is wrong with it. */
const parseNumber = (text: string) => (/^\d+$/.test(text) ? Number(text) : text);

/** Operations refuse a time to come too, but this way nothing is called. */
const parseSince = (text: string) => new Date(parsePastTime(text)).toISOString();

function parserOf({ name, type }: Member) {
  if (type === 'array') return collect;
  if (type === 'integer') return parseNumber;
  return name === 'since' ? parseSince : undefined;
}

/** @param isChange - whether what is left out stays as it is, so that each value needs an option */
export function optionsOf(command: Command, member: Member, isChange: boolean): MemberOption[] {
  return member.type === 'boolean'
    ? switchesOf(member, isChange)
    : [
        valueOption(command, member),
        ...(isChange && member.isNullable ? [nullOption(member)] : []),
      ];
}

function valueOption(command: Command, member: Member): MemberOption {
  const flags = `--${optionName(member)} <${placeholder(member)}>`;
  const option = new Option(flags).makeOptionMandatory(member.isRequired);
  const parser = parserOf(member);
  if (parser !== undefined) option.argParser<unknown>(parser as (text: string) => unknown);
  const isFile = member.type === 'object';
  return {
    member,
    option,
    describe: () => describeMember(member),
    read(given) {
      if (given === false) return null;
      return isFile && given !== undefined ? readJson(command, option, given as string) : given;
    },
  };
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
    describe: () => meaning,
    read: (value) => (value === isAll ? null : undefined),
  };
}

/** `--no-disabled` would say it twice. */
const VERBS: Readonly<Record<string, readonly [on: string, off: string]>> = {
  disabled: ['disable', 'enable'],
};

function switchesOf(member: Member, isChange: boolean): MemberOption[] {
  const name = optionName(member);
  const [on, off] = VERBS[member.name] ?? [name, `no-${name}`];
  const positive = new Option(`--${on}`);
  const isAlone = member.default === true;
  const negative = new Option(`--${off}`);
  if (VERBS[member.name] !== undefined) negative.conflicts(positive.attributeName());
  return [
    ...(isAlone ? [] : [reading(positive, true, () => describeMember(member))]),
    ...(isAlone || isChange ? [reading(negative, false, opposite)] : []),
  ];

  function opposite() {
    return isAlone ? `not: ${describeMember(member)}` : `the opposite of --${on}`;
  }

  function reading(option: Option, value: boolean, describe: () => string): MemberOption {
    // An option that begins with `no-` is false if it is given.
    const whenGiven = !option.negate;
    return { member, option, describe, read: (given) => (given === whenGiven ? value : undefined) };
  }
}

function readJson(command: Command, { long }: Option, file: string): unknown {
  let why = 'is not a JSON object';
  try {
    const value = decodeJson(readFileSync(file, 'utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch (error) {
    why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
  }
  return command.error(`error: the file of '${long}', ${file}, ${why}`);
}
