import type { Command } from 'commander';
import type { OperatorObject } from './operation-commands.ts';
import type { Terminal } from './terminal.ts';

/** Adds arguments, options and subcommands to a command. */
type Add = (command: Command, terminal: Terminal) => void;

export interface CommandRow {
  readonly name: string;
  readonly description: string;
  /** Its commands are the operations of this object, besides those that `load` adds. */
  readonly object?: OperatorObject;
  /** What it replaces or ends cannot be brought back. Of the commands of an object, those with `--yes` do. */
  readonly destroys?: true;
  /** Called for a command line that needs them. */
  load?(): Promise<Add>;
}

/** In the order of `latchkey --help`. */
export const commands: readonly CommandRow[] = [
  {
    name: 'serve',
    description: 'run the service until SIGTERM or SIGINT',
    load: async () => (await import('./serve-command.ts')).addServeCommand,
  },
  {
    name: 'demo',
    description: 'print the address of the demo, a code to convert, and how to revoke its grant',
    load: async () => (await import('./demo-command.ts')).addDemoCommand,
  },
  {
    name: 'app',
    description: 'third-party applications and their secrets',
    object: 'applications',
  },
  {
    name: 'account',
    description: 'the accounts that applications link to',
    object: 'accounts',
  },
  {
    name: 'code',
    description: 'codes that applications convert into grants',
    object: 'codes',
  },
  {
    name: 'grant',
    description: 'the grants that applications hold',
    object: 'grants',
    load: async () => (await import('./revoke-command.ts')).addRevokeCommand,
  },
  {
    name: 'resource',
    description: 'the servers that grants can be for',
    object: 'resources',
  },
  {
    name: 'document',
    description: 'what applications say of themselves that nobody registered',
    object: 'documents',
  },
  {
    name: 'key',
    description: "the operator's credentials, with roles",
    object: 'keys',
  },
  {
    name: 'endpoint',
    description: 'the addresses that are told of events',
    object: 'endpoints',
  },
  {
    name: 'delivery',
    description: 'what endpoints are told',
    object: 'deliveries',
  },
  {
    name: 'scope',
    description: 'the scopes that applications can ask for',
    object: 'scopes',
  },
  {
    name: 'link',
    description: 'decide link requests of applications, as the host does',
    object: 'links',
  },
  {
    name: 'connection',
    description: 'the applications that an account is connected to',
    object: 'connections',
    load: async () => (await import('./connection-commands.ts')).addConnectionRevokeCommand,
  },
  {
    name: 'page',
    description: 'the pages that users see',
    object: 'pages',
    load: async () => (await import('./page-commands.ts')).addPageTextsCommand,
  },
  {
    name: 'refusals',
    description:
      'list the calls that were refused, newest first; with at most one of --app, --account and --grant',
    load: async () => (await import('./refusal-commands.ts')).addRefusalsCommand,
  },
  {
    name: 'explain',
    description: 'say which check refused a request, and what to do',
    load: async () => (await import('./refusal-commands.ts')).addExplainCommand,
  },
  {
    name: 'summary',
    description: 'print how many links, grants and refusals there were in the last hours',
    object: 'summary',
  },
  {
    name: 'self',
    description: 'what a key may do',
    object: 'self',
  },
  {
    name: 'settings',
    description: 'the settings in force',
    object: 'settings',
  },
  {
    name: 'doctor',
    description: 'check the settings and the database, and convert and revoke a test code',
    load: async () => (await import('./doctor-command.ts')).addDoctorCommand,
  },
  {
    name: 'backup',
    description: 'write a verified copy of the SQLite database, even while the service runs',
    load: async () => (await import('./backup-commands.ts')).addBackupCommand,
  },
  {
    name: 'restore',
    description:
      'replace the database with a backup, and revoke again what the logs say was revoked',
    destroys: true,
    load: async () => (await import('./backup-commands.ts')).addRestoreCommand,
  },
  {
    name: 'revoke-again',
    description: 'revoke again what the audit lines of logs say was revoked since a backup',
    destroys: true,
    load: async () => (await import('./backup-commands.ts')).addRevokeAgainCommand,
  },
  {
    name: 'copy',
    description: 'make a database equal to another one, of any kind, as often as you like',
    destroys: true,
    load: async () => (await import('./copy-command.ts')).addCopyCommand,
  },
  {
    name: 'migrate',
    description: 'say whether the database has the schema of this version',
    load: async () => (await import('./migrate-command.ts')).addMigrateCommand,
  },
];
