import { createProgram } from '../../apps/server/src/cli/command-line.ts';
import { allCommands, pathOf } from '../../apps/server/src/cli/command-tree.ts';

type Command = Awaited<ReturnType<typeof createProgram>>;
type Option = Command['options'][number];

/** Where there is more about a command, or about a group of them. */
const more: Record<string, string> = {
  demo: '[The demo](install.md#the-demo)',
  'app delete': '[Delete an application](administer.md#delete-an-application)',
  'app secret': '[Replace an application secret](administer.md#replace-an-application-secret)',
  'account erase': '[Erase an account](administer.md#erase-an-account)',
  'grant history': '[Audit](monitoring.md#audit)',
  key: '[Keys](administer.md#keys)',
  endpoint: '[Events](administer.md#events)',
  delivery: '[When an endpoint fails](administer.md#when-an-endpoint-fails)',
  'page texts': '[Change a text](../guides/style-and-translate.md#change-a-text)',
  refusals: '[Audit](monitoring.md#audit)',
  explain: '[Audit](monitoring.md#audit)',
  summary: '[Summary](monitoring.md#summary)',
  doctor: '[Doctor](command-line.md#doctor)',
  backup: '[Backup](sqlite.md#backup)',
  restore: '[Restore](upgrade-and-restore.md#restore)',
  'revoke-again': '[What is revoked again](upgrade-and-restore.md#what-is-revoked-again)',
  copy: '[Move to another database](upgrade-and-restore.md#move-to-another-database)',
  migrate: '[Upgrade](upgrade-and-restore.md#upgrade)',
};

let printed = '';
const program = await createProgram({
  environment: {},
  stdin: process.stdin,
  stdout: {
    write(text) {
      printed += text;
    },
  },
  stderr: { write() {} },
});

/** Without the word `latchkey`. */
const nameOf = (command: Command) => pathOf(command).split(' ').slice(1).join(' ');
const isGroup = (command: Command) => command.commands.length > 0;

/** The commands, without the groups that they are in. */
export const commands = allCommands(program)
  .filter((command) => !isGroup(command))
  .map((command) => ({
    command,
    name: nameOf(command),
    options: command.options.filter((option) => !option.hidden),
  }));

const idOf = ({ flags, description }: Option) => `${flags} ${description}`;

/** What more than half of the commands have stands once. */
const common = new Map<string, Option>();
for (const option of commands.flatMap(({ options }) => options)) {
  const having = commands.filter(({ options }) =>
    options.some((its) => idOf(its) === idOf(option)),
  );
  if (having.length > commands.length / 2) common.set(idOf(option), option);
}

const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

const table = (heads: string, rows: readonly (readonly [string, string])[]) =>
  [`| ${heads} |`, '| --- | --- |', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');

const optionRow = ({ flags, description, mandatory }: Option) =>
  [`\`${flags}\``, mandatory ? `${description}; required` : description] as const;

/** The lines of its help that begin with `$`. */
function examplesOf(command: Command): string {
  printed = '';
  command.outputHelp();
  const [, examples = ''] = printed.split('\nExamples:\n');
  return [...examples.matchAll(/^ {2}\$ (.*)$/gm)].map(([, line]) => line).join('\n');
}

function section({ command, name, options }: (typeof commands)[number]): string {
  const given = command.registeredArguments.map(
    (argument) =>
      [`\`<${argument.name()}${argument.variadic ? '…' : ''}>\``, argument.description] as const,
  );
  const rows = [...given, ...options.filter((each) => !common.has(idOf(each))).map(optionRow)];
  const others = options.filter((each) => common.has(idOf(each))).map(({ long }) => `\`${long}\``);
  const isOfGroup = name.includes(' ');
  return [
    `${isOfGroup ? '###' : '##'} ${name}`,
    [
      sentence(command.description()),
      ...(others.length === 0 ? [] : [`Also ${others.join(' and ')}.`]),
      ...(more[name] === undefined ? [] : [`More: ${more[name]}.`]),
    ].join(' '),
    ...(rows.length === 0 ? [] : [table('argument | what it is', rows)]),
    `\`\`\`sh\n${examplesOf(command)}\n\`\`\``,
  ].join('\n\n');
}

function sectionsOf(top: Command): string {
  const name = nameOf(top);
  const its = commands.filter((each) => each.name === name || each.name.startsWith(`${name} `));
  const sections = its.map(section);
  if (!isGroup(top)) return sections.join('\n\n');
  const about = [sentence(top.description()), ...(more[name] ? [`More: ${more[name]}.`] : [])];
  return [`## ${name}`, about.join(' '), ...sections].join('\n\n');
}

const linkTo = (name: string) => `[\`${name}\`](#${name.replaceAll(' ', '-')})`;

/** The expected content of docs/operations/commands.md. */
export function commandPage(): string {
  const names = new Set(allCommands(program).map(nameOf));
  const unknown = Object.keys(more).filter((name) => !names.has(name));
  if (unknown.length > 0) throw new Error(`There is no command ${unknown.join(', ')}.`);
  return `# Commands

<!-- Made from the help of the commands: npm run generate -->

\`latchkey COMMAND --help\` prints the same. [Command line](command-line.md) has what all commands have
in common: settings, output, questions, exit codes, and how to call a running service.

${table(
  'command | what it does',
  commands.map(
    ({ command, name }) => [linkTo(name), command.summary() || command.description()] as const,
  ),
)}

Most commands have these options, and say so:

${table('option | what it does', [...common.values()].map(optionRow))}

${program.commands.map(sectionsOf).join('\n\n')}
`;
}
