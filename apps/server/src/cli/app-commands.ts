import type { Application, ApplicationSecret } from '@latchkey/schema';
import type { Command } from 'commander';
import { ageOf } from './age.ts';
import { addAppOptions, addRemovingOptions, membersFrom } from './app-options.ts';
import { addExamples } from './examples.ts';
import { listAll } from './list.ts';
import { runOperation } from './run-operation.ts';
import { type Column, fieldList } from './table.ts';
import type { Terminal } from './terminal.ts';

const stateOf = ({ disabled }: Application) => (disabled ? 'disabled' : 'active');

function kindOf({ public: isPublic, resource_server }: Application): string {
  const kind = isPublic ? 'public, without a secret' : 'confidential';
  return resource_server ? `${kind}, resource server` : kind;
}

function lastUse({ secrets }: Application): string | null {
  const uses = secrets.flatMap(({ last_used_at }) => last_used_at ?? []);
  return uses.toSorted().at(-1) ?? null;
}

const columns: readonly Column<Application>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => name, flexible: true },
  { title: 'STATE', text: stateOf },
  {
    title: 'LAST USED',
    text: (application) => lastUse(application) ?? '',
    short(application) {
      const at = lastUse(application);
      return at === null ? 'never' : `${ageOf(at)} ago`;
    },
    optional: true,
  },
  {
    title: 'AGE',
    text: ({ created_at }) => created_at,
    short: ({ created_at }) => ageOf(created_at),
    optional: true,
  },
];

function describeSecret({ id, hint, expires_at, last_used_at }: ApplicationSecret): string {
  return `${id}  ${hint}  expires ${expires_at ?? 'never'}  last used ${last_used_at ?? 'never'}`;
}

function describeApplication(application: Application): string {
  const { id, name, created_at, redirect_uris, scopes, default_scopes } = application;
  const { logo_uri, homepage_uri, policy_uri, tos_uri, challenge_required } = application;
  const { idle_days, grants_per_account, secrets, document_uri } = application;
  return fieldList([
    ['id', id],
    ...(document_uri === null ? [] : [['document', document_uri] as const]),
    ['name', name],
    ['state', stateOf(application)],
    ['created', created_at],
    ...redirect_uris.map((uri) => ['redirect URI', uri] as const),
    ['scopes', scopes === null ? 'all' : scopes.join(' ') || 'none'],
    ['by default', default_scopes?.join(' ') ?? 'none'],
    ['logo', logo_uri ?? 'none'],
    ['homepage', homepage_uri ?? 'none'],
    ['privacy', policy_uri ?? 'none'],
    ['terms', tos_uri ?? 'none'],
    ['kind', kindOf(application)],
    ['PKCE', challenge_required || application.public ? 'required' : 'optional'],
    ['idle grants', idle_days === null ? 'stay' : `end after ${idle_days} days`],
    ['grants', grants_per_account === null ? 'all stay' : `${grants_per_account} an account`],
    ...secrets.map((secret) => ['secret', describeSecret(secret)] as const),
  ]);
}

export const SHOWN_ONCE =
  'The secret is shown only once. Store it where the application reads its secrets:';

export function addAppCommands(app: Command, terminal: Terminal): void {
  addExamples(app, 'app create Acme', 'app list', 'app secret add APP_ID');

  const create = addAppOptions(
    app
      .command('create')
      .argument('<name>', 'the name of the application')
      .option('--public', 'a native application: it cannot keep a secret and gets none')
      .option('--json', 'print JSON, as the API returns it')
      .description('create an application with its first secret'),
  ).action((name, { public: isPublic = false, json, ...options }) =>
    runOperation(
      terminal,
      'admin.applications.create',
      { name, public: isPublic, challenge_required: true, ...membersFrom(options) },
      { json },
      ({ secret, ...application }) =>
        secret === undefined
          ? describeApplication(application)
          : `${describeApplication(application)}\n${SHOWN_ONCE}\n${secret}`,
    ),
  );
  addExamples(
    create,
    'app create Acme --redirect-uri https://acme.example/callback --scope profile.read',
    "app create 'Acme for the desktop' --public --redirect-uri com.acme.desktop:/callback",
    "app create 'Acme & Co' --json | jq -r .secret",
  );

  const update = addRemovingOptions(
    addAppOptions(
      app
        .command('update')
        .argument('<app-id>', 'the application')
        .option('--name <name>', 'its name')
        .option('--json', 'print JSON, as the API returns it')
        .description('change an application; omitted options leave it unchanged'),
    ),
  ).action((application_id, { name, json, ...options }) => {
    const changes = { ...(name !== undefined && { name }), ...membersFrom(options) };
    if (Object.keys(changes).length === 0) update.error('error: give at least one option');
    return runOperation(
      terminal,
      'admin.applications.update',
      { application_id, ...changes },
      { json },
      describeApplication,
    );
  });
  addExamples(
    update,
    'app update APP_ID --redirect-uri https://acme.example/a --redirect-uri https://acme.example/b',
    'app update APP_ID --name Acme --no-logo --all-scopes',
  );

  const list = app
    .command('list')
    .option('--json', 'print JSON, as the API returns it')
    .description('list all applications, newest first')
    .option('--documents', 'only those that describe themselves in a document')
    .action(({ documents, ...options }) =>
      listAll(terminal, 'admin.applications.list', { documents }, options, columns),
    );
  addExamples(list, 'app list', "app list --json | jq '.data[] | select(.disabled)'");

  const get = app
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
  addExamples(get, 'app get APP_ID');

  const remove = app
    .command('delete')
    .argument('<app-id>', 'the application, which must be disabled')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('delete a disabled application and revoke its grants, for good')
    .action(async (application_id, options) => {
      await runOperation(
        terminal,
        'admin.applications.delete',
        { application_id },
        options,
        ({ id, name }) => `Application ${id} (${name}) is deleted.`,
        // The process ends after the command, so the deletion is completed first.
        async ({ deletions }) => {
          try {
            await deletions.complete();
          } catch {
            // The application is deleted, so the command has succeeded.
            terminal.stderr.write(
              'None of its grants works any more, but not all are recorded as revoked. A running service does that within a minute.\n',
            );
          }
        },
      );
    });
  addExamples(remove, 'app delete APP_ID', 'app delete APP_ID --yes');

  addSecretCommands(app, terminal);

  for (const verb of ['disable', 'enable'] as const) {
    const command = app
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
    addExamples(command, `app ${verb} APP_ID`);
  }
}

function addSecretCommands(app: Command, terminal: Terminal): void {
  const secret = app.command('secret').description('the secrets of an application');
  addExamples(secret, 'app secret add APP_ID', 'app secret revoke APP_ID SECRET_ID');

  const add = secret
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
  addExamples(
    add,
    'app secret add APP_ID',
    'app secret add APP_ID --expires 2027-01-31T00:00:00Z --json',
  );

  const revoke = secret
    .command('revoke')
    .argument('<app-id>', 'the application')
    .argument('<secret-id>', 'the id of the secret, as `app get` shows it')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON, as the API returns it')
    .description('remove a secret; it stops working at once, for good')
    .action(async (application_id, secret_id, options) => {
      await runOperation(
        terminal,
        'admin.applications.secrets.revoke',
        { application_id, secret_id },
        options,
        describeApplication,
      );
    });
  addExamples(revoke, 'app secret revoke APP_ID SECRET_ID');
}
