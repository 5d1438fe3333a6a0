import type { Command } from 'commander';
import { isWithin } from '../near-word.ts';
import { pathOf } from './command-tree.ts';
import { commands } from './commands.ts';
import { exitCode } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/**
 * What people look for by other words. A command that destroys is only behind its own name. A plural is
 * looked up as its singular.
 */
export const meanings: Readonly<Record<string, readonly string[]>> = {
  add: ['app create', 'account put', 'key create', 'app secret add'],
  check: ['doctor'],
  client: ['app'],
  config: ['settings'],
  convert: ['code issue', 'demo'],
  create: ['app create', 'account put', 'code issue', 'key create'],
  delete: ['app', 'account', 'key', 'endpoint'],
  disconnect: ['connection'],
  error: ['refusals', 'explain'],
  exchange: ['code issue', 'demo'],
  get: ['app get', 'account get', 'endpoint get', 'grant history'],
  health: ['doctor', 'summary'],
  list: ['app list', 'account list', 'grant list', 'key list'],
  log: ['refusals', 'explain'],
  ls: ['app list', 'account list', 'grant list', 'key list'],
  new: ['app create', 'account put', 'key create'],
  redeem: ['code issue', 'demo'],
  revoke: ['grant revoke', 'connection revoke'],
  rotate: ['app secret add', 'endpoint rotate', 'key create'],
  run: ['serve'],
  secret: ['app secret add', 'key create'],
  server: ['serve'],
  show: ['app get', 'account get', 'endpoint get', 'grant history'],
  start: ['serve'],
  stats: ['summary'],
  status: ['doctor', 'summary'],
  token: ['grant', 'code'],
  unlink: ['connection'],
  upgrade: ['migrate'],
  user: ['account'],
  webhook: ['endpoint', 'delivery'],
};

export function tellUnknown(
  { group, word }: { group: Command; word: string },
  { stderr }: Terminal,
): number {
  const meant = suggestionsFor(group, word).map((each) => `  latchkey ${each}`);
  const lines = [
    `error: unknown command '${word}'`,
    ...(meant.length === 0 ? [] : ['Did you mean:', ...meant]),
    `Run ${pathOf(group)} --help for all of its commands.`,
  ];
  stderr.write(`${lines.join('\n')}\n`);
  return exitCode.badUsage;
}

/** Commands that are meant by a word that is none of them, without `latchkey`. */
export function suggestionsFor(command: Command, word: string): readonly string[] {
  const group = pathOf(command).split(' ').slice(1).join(' ');
  const asked = word.toLowerCase();
  const meant = meaningOf(asked);
  const here = group === '' ? meant : meant.filter((each) => each.startsWith(`${group} `));
  if (here.length > 0) return here;
  const near = command.commands
    .filter((each) => !destroys(each))
    .map((each) => each.name())
    .filter((name) => isWithin(name.length > 4 ? 2 : 1, asked, name))
    .map((name) => `${group} ${name}`.trim());
  return near.length > 0 ? near : meant;
}

function meaningOf(word: string): readonly string[] {
  const own = [word, word.replace(/s$/, '')].find((each) => Object.hasOwn(meanings, each));
  return own === undefined ? [] : (meanings[own] ?? []);
}

/** Whether it ends or replaces something for good. */
export function destroys(command: Command): boolean {
  return (
    command.options.some(({ long }) => long === '--yes') ||
    (command.parent?.parent === null &&
      commands.some(({ name, destroys }) => destroys && name === command.name()))
  );
}
