import type { LinkIdentification, LinkRedirect, LinkRequest } from '@latchkey/schema';
import type { Command } from 'commander';
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

const describeRedirect = (link: LinkIdentification | LinkRedirect) =>
  link.redirect_to === null
    ? describeLink(link)
    : `${describeLink(link)}\nSend the browser to:\n${link.redirect_to}`;

const LINK = 'the link that the sign-in page received, lk_link_…; - reads it from stdin';

export function addLinkCommands(group: Command, terminal: Terminal): void {
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
    .option('--own-page', 'the host asks the user on a page of its own')
    .action(async (argument, { account, ownPage, json }) => {
      const link = await argumentOrLine(terminal, argument);
      const input = { link, account_id: account, ...(ownPage && { own_page: true }) };
      await runOperation(terminal, 'admin.links.identify', input, { json }, describeRedirect);
    });
  addExamples(identify, 'link identify LINK --account ACCOUNT_ID');

  const approve = group
    .command('approve')
    .argument('<link>', LINK)
    .requiredOption('--account <account-id>', 'the account that the user has approved')
    .option('--scope <scope>', 'requested scope tokens, separated by spaces (default: all of them)')
    .option('--json', 'print JSON, as the API returns it')
    .description('approve a link for its user, and print the address with the code')
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
    .description('deny a link for its user, and print the address that leads back')
    .action(async (argument, options) => {
      const link = await argumentOrLine(terminal, argument);
      await runOperation(terminal, 'admin.links.deny', { link }, options, describeRedirect);
    });
  addExamples(deny, 'link deny LINK');
}
