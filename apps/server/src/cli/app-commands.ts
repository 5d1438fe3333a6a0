import type { Application } from '@latchkey/schema';
import type { Command } from 'commander';
import { listAll } from './list-all.ts';
import { runOperation } from './run-operation.ts';

function describeApplication({ id, name, disabled, secrets }: Application): string {
  const lines = secrets.map(
    (secret) =>
      `  secret ${secret.id}  ${secret.hint}  expires ${secret.expires_at ?? 'never'}  last used ${secret.last_used_at ?? 'never'}`,
  );
  return [`${id}  ${name}${disabled ? '  (disabled)' : ''}`, ...lines].join('\n');
}

const SHOWN_ONCE =
  'The secret is shown this once; keep it where the application reads its secrets:';

export function addAppCommands(program: Command, environment: NodeJS.ProcessEnv): void {
  const app = program.command('app').description('third-party applications and their secrets');

  app
    .command('create')
    .argument('<name>', 'what the application is called')
    .option('--json', 'print the object of the API')
    .description('create an application with its first secret')
    .action((name, options) =>
      runOperation(
        environment,
        'admin.applications.create',
        { name },
        options,
        ({ secret, ...application }) =>
          `${describeApplication(application)}\n${SHOWN_ONCE}\n${secret}`,
      ),
    );

  app
    .command('list')
    .option('--json', 'print the object of the API')
    .description('list all applications, newest first')
    .action((options) =>
      listAll(environment, 'admin.applications.list', {}, options, describeApplication),
    );

  const secret = app.command('secret').description("an application's secrets");

  secret
    .command('add')
    .argument('<app-id>', 'the application')
    .option('--expires <iso>', 'when the secret stops working, such as 2027-01-31T00:00:00Z')
    .option('--json', 'print the object of the API')
    .description('add a secret; 5 can be live at once')
    .action((application_id, { expires, ...options }) =>
      runOperation(
        environment,
        'admin.applications.secrets.create',
        { application_id, expires_at: expires ?? null },
        options,
        (added) => `${added.id}  ${added.hint}\n${SHOWN_ONCE}\n${added.secret}`,
      ),
    );

  secret
    .command('revoke')
    .argument('<app-id>', 'the application')
    .argument('<secret-id>', 'the id of the secret record, as `app list` shows it')
    .option('--json', 'print the object of the API')
    .description('remove a secret; it stops working at once')
    .action((application_id, secret_id, options) =>
      runOperation(
        environment,
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
      .option('--json', 'print the object of the API')
      .description(
        verb === 'disable'
          ? 'stop all secrets and grants of an application, until it is enabled'
          : 'let the secrets and grants of an application work again',
      )
      .action((application_id, options) =>
        runOperation(
          environment,
          `admin.applications.${verb}`,
          { application_id },
          options,
          describeApplication,
        ),
      );
  }
}
