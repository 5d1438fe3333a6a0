import type { LinkRedirect, LinkRequest } from '@latchkey/schema';
import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import { addExamples } from './examples.ts';
import { runOperation } from './run-operation.ts';
import { argumentOrLine } from './stdin.ts';
import { fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';

function describeLink(link: LinkRequest): string {
  const { id, status, application, scopes, redirect_host, account_id, grant_id } = link;
  return fieldList([
    ['id', id],
    ['status', status],
    ['application', `${application.name} (${application.id})`],
    ...scopes.map(({ scope, title }) => ['asks for', `${title} (${scope})`] as const),
    ['goes back to', redirect_host],
    ['account', account_id ?? 'not identified yet'],
    ...(grant_id === null ? [] : [['grant', grant_id] as const]),
    ['expires', link.expires_at],
  ]);
}

const describeRedirect = (link: LinkRedirect) =>
  `${describeLink(link)}\nSend the browser to:\n${link.redirect_to}`;

const LINK = 'the link that came to the sign-in page, lk_link_…; - reads it from stdin';

export function addLinkCommands(program: Command, terminal: Terminal): void {
  const group = program
    .command('link')
    .description('requests of applications to link an account, as a host decides them');
  addExamples(group, 'link read LINK', 'link approve LINK --account ACCOUNT_ID');

  const read = group
    .command('read')
    .argument('<link>', LINK)
    .option('--json', 'print JSON, as the API returns it')
    .description('print what an application asks for, and what was decided')
    .action(async (argument, options) => {
      const link = await argumentOrLine(terminal, argument);
      await runOperation(terminal, 'admin.links.read', { link }, options, describeLink);
    });
  addExamples(read, 'link read LINK', 'link read - < link.txt');

  const identify = group
    .command('identify')
    .argument('<link>', LINK)
    .requiredOption('--account <account-id>', 'the account that has signed in')
    .option('--json', 'print JSON, as the API returns it')
    .description('say which account has signed in, and print the address of its consent page')
    .action(async (argument, { account, json }) => {
      const link = await argumentOrLine(terminal, argument);
      const input = { link, account_id: account };
      await runOperation(terminal, 'admin.links.identify', input, { json }, describeRedirect);
    });
  addExamples(identify, 'link identify LINK --account ACCOUNT_ID');

  const approve = group
    .command('approve')
    .argument('<link>', LINK)
    .requiredOption('--account <account-id>', 'the account that its user has approved')
    .option('--scope <scope>', 'a part of what was asked for, with spaces (default: all of it)')
    .option('--json', 'print JSON, as the API returns it')
    .description('approve for a user who was asked, and print the address that carries the code')
    .action(async (argument, { account, scope, json }) => {
      const link = await argumentOrLine(terminal, argument);
      const input = { link, account_id: account, ...(scope !== undefined && { scope }) };
      await runOperation(terminal, 'admin.links.approve', input, { json }, describeRedirect);
    });
  addExamples(
    approve,
    'link approve LINK --account ACCOUNT_ID',
    "link approve - --account ACCOUNT_ID --scope 'profile.read' < link.txt",
  );

  const deny = group
    .command('deny')
    .argument('<link>', LINK)
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('deny for a user who does not want to link, and print the way back')
    .action(async (argument, options) => {
      const link = await argumentOrLine(terminal, argument);
      await confirm(terminal, 'Deny this link? Its user has to begin again.', options);
      await runOperation(terminal, 'admin.links.deny', { link }, options, describeRedirect);
    });
  addExamples(deny, 'link deny LINK');
}
