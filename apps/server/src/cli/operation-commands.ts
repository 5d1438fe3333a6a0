import { DomainError } from '@latchkey/domain/domain-error';
import { operations as contracts, type OperationContract, operationNames } from '@latchkey/schema';
import type { Argument, Command } from 'commander';
import { z } from 'zod';
import type { OperatorOperation } from '../operations/call-operation.ts';
import { addExamples, pathOf } from './command-tree.ts';
import {
  describeMember,
  exampleOf,
  inHelp,
  inputFrom,
  isCredential,
  type Member,
  type MemberOption,
  membersOf,
  optionName,
  optionsOf,
  placeholder,
  readJson,
} from './member.ts';
import { type OperationRow, rowsByName } from './operation-rows.ts';
import { runOperation } from './run-operation.ts';
import { argumentOrLine, STDIN } from './stdin.ts';
import type { Terminal } from './terminal.ts';

/** An object of the operator: `grants` of `admin.grants.list`. */
export type OperatorObject = OperatorOperation extends `admin.${infer Name}.${string}`
  ? Name extends `${infer First}.${string}`
    ? First
    : Name
  : never;

/**
 * Adds a command for each operation of an object. One that has a single operation is the command itself.
 *
 * @param words - of a command line. The operation that they name is the only one that is added
 */
export function addOperationCommands(
  group: Command,
  terminal: Terminal,
  object: OperatorObject,
  words?: readonly string[],
): void {
  const names: OperatorOperation[] = [];
  for (const each of operationNames) {
    if (each.startsWith(`admin.${object}.`)) names.push(each as OperatorOperation);
  }
  const [only] = names;
  if (only !== undefined && names.length === 1) {
    addOperation(group, terminal, only, words !== undefined);
    return;
  }
  const paths = new Map<OperatorOperation, readonly string[]>();
  for (const name of names) {
    const { command } = rowsByName[name] ?? {};
    if (command === null) continue;
    const path = command?.split(' ') ?? name.replace(/s\b/g, '').split('.').slice(2);
    if (path.join() === words?.slice(0, path.length).join()) {
      addOperation(commandAt(group, path), terminal, name, true);
      return;
    }
    paths.set(name, path);
  }
  for (const [name, path] of paths) addOperation(commandAt(group, path), terminal, name, false);
  for (const each of [group, ...group.commands]) {
    if (each.commands.length === 0) continue;
    addExamples(each, ...each.commands.flatMap(firstExampleOf).slice(0, 2));
  }
}

/** The command of some words below a group, which is made if there is none. */
function commandAt(group: Command, [word = '', ...more]: readonly string[]): Command {
  const command = group.commands.find((each) => each.name() === word) ?? group.command(word);
  if (more.length === 0) return command;
  if (command.description() === '') {
    command.description(`the ${word}s of an ${group.name().replace(/^app$/, 'application')}`);
  }
  return commandAt(command, more);
}

const examples = new WeakMap<Command, string[]>();

const firstExampleOf = (command: Command): string[] =>
  (examples.get(command) ?? command.commands.flatMap(firstExampleOf)).slice(0, 1);

/** A list of the command line has all pages. */
const PAGING: ReadonlySet<string> = new Set(['limit', 'cursor']);

/** @param runs - whether the command line names it: then it is described only for its help */
function addOperation(
  command: Command,
  terminal: Terminal,
  name: OperatorOperation,
  runs: boolean,
): void {
  const contract: OperationContract = contracts[name];
  const row = rowsByName[name] ?? {};
  const positional: readonly string[] = row.positional ?? pathMembers(contract);
  // Each value needs an option then.
  const keepsOmitted = contract.method === 'PATCH' || contract.method === 'GET';
  const fixed: Record<string, unknown> = {};
  const argumentsOf: Member[] = [];
  const taken: Member[] = [];
  const options: MemberOption[] = [];
  for (const each of membersOf(z.toJSONSchema(contract.input, { io: 'input' })).values()) {
    if (PAGING.has(each.name)) continue;
    const member = { ...each, default: row.defaults?.[each.name as never] ?? each.default };
    if (member.const !== undefined) fixed[member.name] = member.const;
    if (positional.includes(member.name)) {
      argumentsOf.push(member);
      const word = placeholder(member);
      command.argument(row.newId === member.name ? `[${word}]` : `<${word}>`);
    } else if (member.const === undefined && member.type !== undefined) {
      // What is ignored has no type.
      taken.push(member);
      options.push(...optionsOf(member, keepsOmitted));
    }
  }
  for (const { option } of options) command.addOption(option);
  if (row.ends !== undefined) command.option('--yes', 'do not ask');
  command.option('--json', 'print JSON, as the API returns it');
  const describe = () => describeCommand(command, contract, row, { argumentsOf, taken, options });
  if (runs) command.on('beforeHelp', describe);
  else describe();

  command.action(async (...given: unknown[]) => {
    const values = command.opts();
    const changes = inputFrom(command, options);
    refuseWrongOptions(command, contract, row, { taken, changes, terminal });
    const operands: Record<string, unknown> = {};
    for (const [index, member] of argumentsOf.entries()) {
      operands[member.name] = await operandOf(command, terminal, member, given[index], row);
    }
    const input = { ...row.defaults, ...fixed, ...operands, ...changes };
    try {
      await runOperation(terminal, name, input, values);
    } catch (error) {
      throw inTermsOfCommand(error, taken, namesInWords(taken, argumentsOf));
    }
  });
}

const pathMembers = ({ path }: OperationContract) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

const flagOf = (member: Member) => `--${optionName(member)}`;

/** Texts of the API name members, the command line options. Only names with an underscore are no other words. */
function namesInWords(taken: readonly Member[], positional: readonly Member[]) {
  const words = new Map([
    ...taken.map((member) => [member.name, flagOf(member)] as const),
    ...positional.map((member) => [member.name, `<${placeholder(member)}>`] as const),
  ]);
  return (text: string) =>
    text.replace(/`?\b([a-z]+(?:_[a-z]+)+)\b`?/g, (found, name) => words.get(name) ?? found);
}

/** A command that runs needs no descriptions. */
function describeCommand(
  command: Command,
  contract: OperationContract,
  row: OperationRow,
  parts: {
    argumentsOf: readonly Member[];
    taken: readonly Member[];
    options: readonly MemberOption[];
  },
): void {
  const { argumentsOf, taken, options } = parts;
  const inWords = namesInWords(taken, argumentsOf);
  command.summary(inHelp(contract.summary));
  command.description(inWords(`${contract.summary}. ${contract.description}`));
  for (const [index, member] of argumentsOf.entries()) {
    const more = [
      ...(row.newId === member.name ? [' (default: a new id)'] : []),
      ...(isCredential(member) ? ['; - reads it from stdin'] : []),
    ];
    const argument = command.registeredArguments[index] as Argument;
    argument.description = `${describeMember(member)}${more.join('')}`;
  }
  for (const { option, describe } of options) option.description = inWords(describe());
  const lines = examplesOf(command, row, contract, argumentsOf, taken);
  examples.set(command, lines);
  addExamples(command, ...lines);
}

async function operandOf(
  command: Command,
  terminal: Terminal,
  member: Member,
  given: unknown,
  row: OperationRow,
) {
  if (member.type === 'object') return readJson(command, `<${placeholder(member)}>`, String(given));
  if (given === undefined && row.newId === member.name) {
    const { newId } = await import('@latchkey/domain/credentials/credentials');
    return newId(Date.now());
  }
  return given === STDIN && isCredential(member) ? argumentOrLine(terminal, STDIN) : given;
}

function refuseWrongOptions(
  command: Command,
  { method }: OperationContract,
  { exactlyOneOf = [] }: OperationRow,
  given: { taken: readonly Member[]; changes: Record<string, unknown>; terminal: Terminal },
): void {
  const { taken, changes, terminal } = given;
  const names = Object.keys(changes);
  if (method === 'PATCH' && names.length === 0) {
    command.error('error: give at least one option');
  }
  if (
    exactlyOneOf.length > 0 &&
    names.filter((name) => exactlyOneOf.includes(name as never)).length !== 1
  ) {
    const flags = taken.filter(({ name }) => exactlyOneOf.includes(name as never)).map(flagOf);
    command.error(`error: give exactly one of ${flags.join(' and ')}`);
  }
  const { LATCHKEY_ADMIN_SECRET, LATCHKEY_ADMIN_SECRET_FILE } = terminal.environment;
  const isForServices = LATCHKEY_ADMIN_SECRET || LATCHKEY_ADMIN_SECRET_FILE;
  if ('url' in changes && isForServices && terminal.serviceUrl === undefined) {
    command.error(
      'error: here, --url is the new address of the endpoint. Name the service with --service. For the database, unset LATCHKEY_ADMIN_SECRET.',
    );
  }
}

function examplesOf(
  command: Command,
  { newId, exactlyOneOf }: OperationRow,
  { method }: OperationContract,
  positional: readonly Member[],
  taken: readonly Member[],
): string[] {
  const withValue = (member: Member) =>
    member.type === 'boolean' ? flagOf(member) : `${flagOf(member)} ${exampleOf(member)}`;
  const base = [
    ...pathOf(command).split(' ').slice(1),
    ...positional.filter(({ name }) => name !== newId).map(exampleOf),
    ...taken.filter(({ isRequired }) => isRequired).map(withValue),
  ].join(' ');
  const more = taken
    .filter(({ isRequired }) => !isRequired)
    .map((each) => `${base} ${withValue(each)}`);
  if (exactlyOneOf !== undefined) return more.slice(0, exactlyOneOf.length);
  return method === 'PATCH' ? more.slice(0, 1) : [base, ...more.slice(0, 1)];
}

/** The issues of an input name members. */
function inTermsOfCommand(
  error: unknown,
  taken: readonly Member[],
  inWords: (text: string) => string,
): unknown {
  if (!(error instanceof DomainError) || error.members.issues === undefined) return error;
  const issues = error.members.issues.map(({ path: [name, ...place], message }) => {
    const member = taken.find((each) => each.name === name);
    const first = member === undefined ? name : flagOf(member);
    return { path: [...(first === undefined ? [] : [first]), ...place], message: inWords(message) };
  });
  return new DomainError(error.code, { ...error.members, issues }, error.cause);
}
