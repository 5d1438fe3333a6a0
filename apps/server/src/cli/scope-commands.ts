import { readFileSync } from 'node:fs';
import type { OperationInput, Scope } from '@latchkey/schema';
import type { Command } from 'commander';
import { addExamples } from './examples.ts';
import { printList } from './list.ts';
import { READING, runOperation, withCalls } from './run-operation.ts';
import { type Column, fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';

const columns: readonly Column<Scope>[] = [
  { title: 'SCOPE', text: ({ scope }) => scope },
  { title: 'TITLE', text: ({ title }) => title, flexible: true },
  { title: 'DESCRIPTION', text: ({ description }) => description ?? '', flexible: true },
  { title: 'LANGUAGES', text: ({ texts }) => Object.keys(texts).join(' '), optional: true },
];

function describeScope({ scope, title, description, texts, sensitive }: Scope): string {
  return fieldList([
    ['scope', scope],
    ['title', title],
    ['description', description ?? 'none'],
    ['sensitive', sensitive ? 'yes' : 'no'],
    ...Object.entries(texts).map(([language, text]) => {
      const both = text.description ? `${text.title}: ${text.description}` : text.title;
      return [`title (${language})`, both] as const;
    }),
  ]);
}

export function addScopeCommands(scope: Command, terminal: Terminal): void {
  addExamples(scope, "scope put profile.read --title 'Read your profile'", 'scope list');

  const put = scope
    .command('put')
    .argument('<scope>', 'the scope token')
    .requiredOption('--title <title>', 'the title on the consent page')
    .option('--description <text>', 'what it allows')
    .option(
      '--texts <file>',
      'the same in other languages: JSON such as {"de":{"title":"…","description":"…"}}',
    )
    .option('--sensitive', 'it lets an application act, or costs something')
    .option('--json', 'print JSON, as the API returns it')
    .description('describe a scope, or replace its description completely')
    .action(async (name, { title, description, texts, sensitive = false, json }) =>
      runOperation(
        terminal,
        'admin.scopes.put',
        {
          scope: name,
          title,
          description: description ?? null,
          texts: texts === undefined ? {} : await readTexts(put, texts),
          sensitive,
        },
        { json },
        describeScope,
      ),
    );
  addExamples(
    put,
    "scope put profile.read --title 'Read your profile' --description 'Your name and your picture.'",
    "scope put profile.read --title 'Read your profile' --texts profile.read.json",
    "scope put orders.write --title 'Order for you' --sensitive",
  );

  const list = scope
    .command('list')
    .option('--json', 'print JSON, as the API returns it')
    .description('list all described scopes, by name')
    .action((options) =>
      withCalls(terminal, READING, async ({ call }) => {
        const { data } = await call('admin.scopes.list', {});
        await printList(terminal, [data], options, columns);
      }),
    );
  addExamples(list, 'scope list');

  const remove = scope
    .command('delete')
    .argument('<scope>', 'the scope')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description(
      'delete the description of a scope; applications can no longer ask for it, and grants keep it',
    )
    .action((name, options) =>
      runOperation(
        terminal,
        'admin.scopes.delete',
        { scope: name },
        options,
        (deleted) => `The scope ${deleted.scope} is no longer described. It was: ${deleted.title}`,
      ),
    );
  addExamples(remove, 'scope delete profile.read', 'scope delete profile.read --yes');
}

type Texts = OperationInput<'admin.scopes.put'>['texts'];

// The operation has a schema for what is in it.
const isTexts = (value: unknown): value is Texts => typeof value === 'object' && value !== null;

async function readTexts(command: Command, file: string): Promise<Texts> {
  const { decodeJson } = await import('@latchkey/domain/decode-json');
  let why = 'is not a JSON object';
  try {
    const texts = decodeJson(readFileSync(file, 'utf8'));
    if (isTexts(texts)) return texts;
  } catch (error) {
    why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
  }
  return command.error(`error: the file of '--texts', ${file}, ${why}`);
}
