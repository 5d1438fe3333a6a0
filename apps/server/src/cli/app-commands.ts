import type { Application } from '@latchkey/schema';
import type { Command } from 'commander';
import { confirm } from './confirm.ts';
import { listAll, runOperation, type Terminal } from './run-operation.ts';

function describeApplication({ id, name, disabled, secrets }: Application): string {
  const lines = secrets.map(
    (secret) =>
      `  secret ${secret.id}  ${secret.hint}  expires ${secret.expires_at ?? 'never'}  last used ${secret.last_used_at ?? 'never'}`,
  );
  return [`${id}  ${name}${disabled ? '  (disabled)' : ''}`, ...lines].join('\n');
}

const SHOWN_ONCE =
  'The secret is shown only once. Store it where the application reads its secrets:';

export function addAppCommands(program: Command, terminal: Terminal): void {
  const app = program.command('app').description('third-party applications and their secrets');

  app
    .command('create')
    .argument('<name>', 'the name of the application')
    .option('--json', 'print JSON, as the API returns it')
    .description('create an application with its first secret')
    .action((name, options) =>
      runOperation(
        terminal,
        'admin.applications.create',
        { name },
        options,
        ({ secret, ...application }) =>
          `${describeApplication(application)}\n${SHOWN_ONCE}\n${secret}`,
      ),
    );

  app
    .command('list')
    .option('--json', 'print JSON, as the API returns it')
    .description('list all applications, newest first')
    .action((options) =>
      listAll(terminal, 'admin.applications.list', {}, options, describeApplication),
    );

  app
    .command('get')
    .argument('<app-id>', 'the application')
    .option('--json', 'print JSON, as the API returns it')
    .description('print an application with its secret records')
    .action((application_id, options) =>
      runOperation(
        terminal,
        'admin.applications.get',
        { application_id },
        options,
        describeApplication,
      ),
    );

  app
    .command('delete')
    .argument('<app-id>', 'the application, which has to be disabled')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('delete a disabled application and revoke its grants, for good')
    .action(async (application_id, options) => {
      await confirm(
        `Delete the application ${application_id}? Its grants are revoked, for good.`,
        options,
      );
      await runOperation(
        terminal,
        'admin.applications.delete',
        { application_id },
        options,
        ({ id, name }) => `Application ${id} (${name}) is deleted.`,
        // The process ends after it, so nothing is left to the background.
        ({ deletions }) => deletions.complete(),
      );
    });

  const secret = app.command('secret').description('the secrets of an application');

  secret
    .command('add')
    .argument('<app-id>', 'the application')
    .option('--expires <iso>', 'when the secret stops working, for example 2027-01-31T00:00:00Z')
    .option('--json', 'print JSON, as the API returns it')
    .description('add a secret (an application has at most 5 that work)')
    .action((application_id, { expires, ...options }) =>
      runOperation(
        terminal,
        'admin.applications.secrets.create',
        { application_id, expires_at: expires ?? null },
        options,
        (added) => `${added.id}  ${added.hint}\n${SHOWN_ONCE}\n${added.secret}`,
      ),
    );

  secret
    .command('revoke')
    .argument('<app-id>', 'the application')
    .argument('<secret-id>', 'the id of the secret, as `app list` shows it')
    .option('--json', 'print JSON, as the API returns it')
    .description('remove a secret; it stops working at once')
    .action((application_id, secret_id, options) =>
      runOperation(
        terminal,
        'admin.applications.secrets.revoke',
        { application_id, secret_id },
        options,
        describeApplication,
      ),
    );

  for (const verb of ['disable', 'enable'] as const) {
    app
      .command(verb)
      .argument('<app-id>', 'the application')
      .option('--json', 'print JSON, as the API returns it')
      .description(
        verb === 'disable'
          ? 'stop all secrets and grants of an application until it is enabled'
          : 'let the secrets and grants of an application work again',
      )
      .action((application_id, options) =>
        runOperation(
          terminal,
          `admin.applications.${verb}`,
          { application_id },
          options,
          describeApplication,
        ),
      );
  }
}
