import type { Command } from 'commander';
import type { Terminal } from './terminal.ts';

export interface CommandRow {
  readonly name: string;
  readonly description: string;
  /** Adds its arguments, options and subcommands. Loaded for a command line that needs them. */
  load(): Promise<(command: Command, terminal: Terminal) => void>;
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
    load: async () => (await import('./app-commands.ts')).addAppCommands,
  },
  {
    name: 'account',
    description: 'the accounts that applications link to',
    load: async () => (await import('./account-commands.ts')).addAccountCommands,
  },
  {
    name: 'code',
    description: 'codes that applications convert into grants',
    load: async () => (await import('./code-commands.ts')).addCodeCommands,
  },
  {
    name: 'grant',
    description: 'the grants that applications hold',
    load: async () => (await import('./grant-commands.ts')).addGrantCommands,
  },
  {
    name: 'resource',
    description: 'the servers that grants can be for',
    load: async () => (await import('./resource-commands.ts')).addResourceCommands,
  },
  {
    name: 'key',
    description: "the operator's credentials, with roles",
    load: async () => (await import('./key-commands.ts')).addKeyCommands,
  },
  {
    name: 'endpoint',
    description: 'the addresses that are told of events',
    load: async () => (await import('./endpoint-commands.ts')).addEndpointCommands,
  },
  {
    name: 'delivery',
    description: 'what endpoints are told',
    load: async () => (await import('./delivery-commands.ts')).addDeliveryCommands,
  },
  {
    name: 'scope',
    description: 'the scopes that applications can ask for',
    load: async () => (await import('./scope-commands.ts')).addScopeCommands,
  },
  {
    name: 'link',
    description: 'decide link requests of applications, as the host does',
    load: async () => (await import('./link-commands.ts')).addLinkCommands,
  },
  {
    name: 'connection',
    description: 'the applications that an account is connected to',
    load: async () => (await import('./connection-commands.ts')).addConnectionCommands,
  },
  {
    name: 'page',
    description: 'the pages that users see',
    load: async () => (await import('./page-commands.ts')).addPageCommands,
  },
  {
    name: 'refusals',
    description:
      'list the calls that were refused, newest first; with at most one of --app, --account and --grant',
    load: async () => (await import('./audit-commands.ts')).addRefusalsCommand,
  },
  {
    name: 'explain',
    description: 'say which check refused a request, and what to do',
    load: async () => (await import('./audit-commands.ts')).addExplainCommand,
  },
  {
    name: 'summary',
    description: 'print how many links, grants and refusals there were in the last hours',
    load: async () => (await import('./summary-command.ts')).addSummaryCommand,
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
    load: async () => (await import('./backup-commands.ts')).addRestoreCommand,
  },
  {
    name: 'revoke-again',
    description: 'revoke again what the audit lines of logs say was revoked since a backup',
    load: async () => (await import('./backup-commands.ts')).addRevokeAgainCommand,
  },
  {
    name: 'copy',
    description: 'make a database equal to another one, SQLite or MongoDB, as often as you like',
    load: async () => (await import('./copy-command.ts')).addCopyCommand,
  },
  {
    name: 'migrate',
    description: 'say whether the database has the schema of this version',
    load: async () => (await import('./migrate-command.ts')).addMigrateCommand,
  },
  {
    name: 'completion',
    description: 'print a script that completes commands and options in a shell',
    load: async () => (await import('./completion-command.ts')).addCompletionCommand,
  },
];
