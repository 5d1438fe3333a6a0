import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type OperationContract,
  type OperationName,
  operationNames,
  operations,
} from '@latchkey/schema';
import type { Command } from 'commander';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { commands as groups } from '../../src/cli/commands.ts';
import { rowsByName } from '../../src/cli/operation-rows.ts';
import type { OperatorOperation } from '../../src/operations/call-operation.ts';
import { inputsOf } from '../cases/cases.ts';
import { DOCUMENTS, newWorld, type World } from '../cases/world.ts';
import { succeed } from '../http/call.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { ADMIN_SECRET, EVENTS, operator, useServer } from '../http/running-server.ts';
import { LINKING } from '../linking/link-flow.ts';
import { commands } from './examples-of-help.ts';

type Input = Record<string, unknown>;

// Of many grants, it prints one line each: `revoke-command.test.ts`.
const names = operationNames.filter(
  (name): name is OperatorOperation =>
    operations[name].caller === 'operator' && name !== 'admin.grants.revokeAll',
);

/** Commands that are written by hand. */
const BY_HAND: Partial<Record<OperationName, string>> = {
  'admin.connections.revoke': 'connection revoke',
  'admin.grants.revoke': 'grant revoke',
  'admin.refusals.list': 'refusals',
};

const isIn = (name: OperatorOperation, column: keyof OperationContract) =>
  column in operations[name];

function commandOf(name: OperatorOperation) {
  const [, object, ...verbs] = name.split('.');
  const group = groups.find((each) => each.object === object)?.name;
  const own = rowsByName[name]?.command ?? verbs.join(' ').replace(/s\b/g, '');
  const wanted = BY_HAND[name] ?? `${group} ${own}`;
  const [words, command] =
    commands.find(([each]) => each.join(' ') === wanted) ??
    commands.find(([each]) => each.join(' ') === group) ??
    [];
  if (words === undefined || command === undefined) throw new Error(`${name} has no command.`);
  return { words, command };
}

/** Without its page, since a command lists all of them, and without what is false by default. */
const essenceOf = (name: OperatorOperation, { limit: _, cursor: __, ...input }: Input) => {
  const { input: schema }: OperationContract = operations[name];
  const { limit, ...parsed } = schema.parse(input) as Input;
  const told = Object.entries(parsed).filter(([, value]) => value !== false);
  // A command may write a time in another way.
  return told
    .map(([member, value]) => [member, JSON.stringify(value).replace('.000Z', 'Z')])
    .toSorted();
};

type Option = { id: string; label: string };
type Choice = Option | { title: string; options: Option[] };

function wordsForChoice(choice: Choice): string[] {
  const asOption = ({ id, label }: Option) => ['--choice', `${id}=${label}`];
  if ('id' in choice) return asOption(choice);
  return ['--choice-title', choice.title, ...choice.options.flatMap(asOption)];
}

function fileWith(value: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-operation-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'value.json');
  writeFileSync(file, JSON.stringify(value));
  return file;
}

const isOperand = (command: Command, word: string) =>
  command.registeredArguments.some((argument) => argument.name() === word);

/** What a person types for an input. */
function wordsFor(name: OperatorOperation, input: Input): string[] {
  const { words, command } = commandOf(name);
  const operands: string[] = [];
  const options: string[] = [];
  for (const [member, value] of Object.entries(input)) {
    const word = member.replaceAll('_', '-').replace(/^application\b/, 'app');
    if (isOperand(command, member === 'document_uri' ? 'uri' : word)) {
      operands.push(String(value));
      continue;
    }
    if (member === 'document') {
      operands.push(fileWith(value));
      continue;
    }
    if (member === 'choice') {
      options.push(...wordsForChoice(value as Choice));
      continue;
    }
    const one = Array.isArray(value) ? word.replace(/s$/, '') : word;
    const short = /^(redirect-uri|external-id)$/.test(one)
      ? one
      : one.replace(/-(uri|id|at|seconds)$/, '');
    const off = member === 'disabled' ? 'enable' : `no-${short}`;
    const flag = `--${value === false ? off : short}`;
    const long = command.options.find((option) => option.long === flag)?.long;
    if (long === undefined) continue;
    if (typeof value === 'boolean') options.push(long);
    else if (Array.isArray(value)) options.push(...value.flatMap((each) => [long, each]));
    else if (typeof value !== 'object') options.push(long, String(value));
  }
  return [...words, ...operands, ...options];
}

test('every command that calls a service is one of these, or explains a refusal', () => {
  const isService = ({ short, long }: { short?: string; long?: string }) =>
    short === '--service' || long === '--service';
  const calling = commands.filter(
    ([, command]) =>
      command.commands.length === 0 && command.options.find(isService)?.hidden === false,
  );
  const found = calling.map(([words]) => words.join(' '));
  const own = names.map((name) => commandOf(name).words.join(' '));
  expect(found.toSorted()).toEqual([...own, 'explain'].toSorted());
});

describeOnAnyStore('the command of', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS, ...DOCUMENTS });
  const off = useServer(fresh);
  const SETTINGS = { ADMIN_SECRET, ...LINKING, ...EVENTS, ...DOCUMENTS };
  const json = async (words: string[], environment: NodeJS.ProcessEnv) => {
    const { code, stdout, stderr } = await runInProcess([...words, '--json'], environment);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^\{.*\}\n$/);
    return JSON.parse(stdout);
  };
  const onDatabase = (words: string[]) =>
    json(words, { DATABASE_URL: server.database.url, ...SETTINGS });

  /** What it printed, and the inputs of its calls. */
  async function overTheWire(words: string[]) {
    const calls: [string, Input][] = [];
    const { fetch } = globalThis;
    const spy = vi.spyOn(globalThis, 'fetch').mockImplementation((url, init) => {
      const { pathname, searchParams } = new URL(String(url));
      const text = (init?.body as string) ?? searchParams.get('input');
      calls.push([pathname.replace('/trpc/', ''), JSON.parse(text)]);
      return fetch(url, init);
    });
    onTestFinished(() => void spy.mockRestore());
    const printed = await json([...words, '--service', server.url], {
      LATCHKEY_ADMIN_SECRET: ADMIN_SECRET,
    });
    spy.mockRestore();
    return { printed, calls };
  }

  let shared: World;
  beforeAll(async () => {
    shared = await newWorld(server);
  });
  const inputOf = async (name: OperatorOperation): Promise<Input> => {
    const world = operations[name].method === 'GET' ? shared : await newWorld(server);
    const { application_id, key_id } = world;
    // There can be 50 of them.
    if (world !== shared && name !== 'admin.keys.delete') {
      await succeed(server, 'admin.keys.delete', { key_id }, operator);
    }
    if (name === 'admin.applications.delete') {
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
    }
    return inputsOf(world)[name];
  };

  test.each(names)('%s does the same, and prints its object', async (name) => {
    const { output }: OperationContract = operations[name];
    const printed = await onDatabase(wordsFor(name, await inputOf(name)));
    expect(output.parse(printed)).toStrictEqual(printed);
    const input = await inputOf(name);
    const told = await overTheWire(wordsFor(name, input));
    expect(output.parse(told.printed)).toStrictEqual(told.printed);
    const sent = told.calls.flatMap(([called, each]) => (called === name ? [each] : []));
    expect(sent.map((each) => essenceOf(name, each))).toEqual([essenceOf(name, input)]);
  });

  test.each(names.filter((name) => operations[name].method === 'PATCH'))(
    '%s has an option for each null and each false',
    async (name) => {
      const input = await inputOf(name);
      const { command } = commandOf(name);
      const [id = '', value] = Object.entries(input).find(([member]) => /_id$/.test(member)) ?? [];
      const said: Input = {};
      for (const { long } of command.options) {
        if (!/^--(no|all)-|^--enable$/.test(long ?? '')) continue;
        const { calls } = await overTheWire([...wordsFor(name, { [id]: value }), long as string]);
        const [, { [id]: _, ...changes } = {}] = calls.find(([each]) => each === name) ?? [];
        expect(Object.keys(changes)).toHaveLength(1);
        Object.assign(said, changes);
      }
      const { properties = {} } = z.toJSONSchema(operations[name].input, { io: 'input' });
      const expected: Input = {};
      for (const [member, schema] of Object.entries(properties)) {
        const text = JSON.stringify(schema);
        if (/"type":"null"/.test(text)) expected[member] = null;
        else if (/"type":"boolean"/.test(text)) expected[member] = false;
      }
      expect(said).toEqual(expected);
    },
  );

  test.each(names.filter((name) => isIn(name, 'needsEvents') || isIn(name, 'needsLinking')))(
    '%s says what to set where it is off',
    async (name) => {
      const setting = isIn(name, 'needsEvents') ? 'EVENTS_KEY' : 'SIGN_IN_URL';
      const words = wordsFor(name, inputsOf(shared)[name]);
      const settings = { DATABASE_URL: off.database.url };
      const { code, stdout, stderr } = await runInProcess(words, settings);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^${setting} is not set, .*Example: ${setting}.*\\n$`));
    },
  );

  test.each(names.filter((name) => rowsByName[name]?.ends))(
    '%s asks on a terminal, but not with --yes',
    async (name) => {
      const words = wordsFor(name, await inputOf(name));
      const environment = { DATABASE_URL: server.database.url, ...SETTINGS };
      const run = await runInProcess(words, environment, { answer: 'n' });
      expect(run).toMatchObject({ code: 1, stdout: '' });
      expect(run.stderr).toMatch(/\? [A-Z][^?]*\. \[y\/N\] [\s\S]*Nothing was changed\.\n$/);
      expect(run.stderr).not.toMatch(/[{}]|undefined|lk_link/);
      const done = await runInProcess([...words, '--yes'], environment, { answer: 'n' });
      expect(done).toMatchObject({ code: 0, stderr: expect.not.stringContaining('[y/N]') });
    },
  );
});
