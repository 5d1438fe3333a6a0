import { type Finding, ok, problem, warning } from '@latchkey/store/finding';
import { misspeltSettings } from '../misspelt-settings.ts';
import type { Settings } from '../settings.ts';

/** Finds settings that are valid one by one, but wrong together or in public, and misspelt ones. */
export function* checkSettings(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
): Generator<Finding> {
  const warnings = [...settingWarnings(settings), ...spellingWarnings(environment)];
  yield* warnings;
  if (warnings.length === 0) yield ok('settings', describe(settings));
  yield* checkPublicUrl(settings);
}

// A connection of a caller takes a file, and 256 are kept for the database: docs/operations/run.md#slow-and-hostile-callers
const FEW_FILES = 1024;

/** @param limit - of this command, which runs as the user of the service */
export function* checkOpenFiles(limit: number): Generator<Finding> {
  if (limit >= FEW_FILES) return;
  yield warning(
    'settings',
    `This user may have only ${limit} files open, so a service of it has few connections.`,
    `Set ulimit -n to twice the connections of the proxy, and at least to ${FEW_FILES}.`,
  );
}

function describe({ host, port, adminSecret, adminPort }: Settings): string {
  const admin =
    adminSecret === null
      ? 'no routes of the operator'
      : `routes of the operator on port ${adminPort ?? port}`;
  return `All are valid: ${host} port ${port}, ${admin}.`;
}

function* settingWarnings(settings: Settings): Generator<Finding> {
  const { publicUrl, trustProxy, host, metrics, adminPort, rateLimit, logLevel } = settings;
  const isPublic = !isLoopback(host);
  if (settings.databaseIsDefault) {
    yield warning(
      'settings',
      `DATABASE_URL is not set, so the database is ${settings.databaseUrl} in the current directory.`,
      'Set it, and give commands the environment of the service.',
    );
  }
  if (isPublic && publicUrl === null) {
    yield warning(
      'settings',
      'PUBLIC_URL is not set, so links in responses have the host that each caller sends.',
      'Set it to the address that callers use.',
    );
  }
  if (publicUrl?.startsWith('https:') && !trustProxy) {
    yield warning(
      'settings',
      'PUBLIC_URL is https, so a proxy is in front; but TRUST_PROXY is false, so all callers have its address and share its limits.',
      'Set TRUST_PROXY=true, if the proxy sets X-Forwarded-For itself.',
    );
  }
  if (metrics && adminPort === null && isPublic) {
    yield warning(
      'settings',
      'METRICS is on without ADMIN_PORT: anybody who reaches the service can read /metrics.',
      'Set ADMIN_PORT, or let the proxy refuse /metrics.',
    );
  }
  if (settings.eventsKey !== null && settings.adminSecret === null) {
    yield problem(
      'settings',
      'EVENTS_KEY is set, but ADMIN_SECRET is not, so the service does not start.',
      'Set ADMIN_SECRET too.',
    );
  }
  if (rateLimit === null) {
    yield warning(
      'settings',
      'RATE_LIMIT is off: nothing limits guessing and flooding.',
      'Unset it, or set limits of your own.',
    );
  }
  if (logLevel === 'silent') {
    yield warning('settings', 'LOG_LEVEL is silent: nothing is audited.', 'Set it to info.');
  }
}

function* spellingWarnings(environment: NodeJS.ProcessEnv): Generator<Finding> {
  for (const { variable, setting } of misspeltSettings(environment)) {
    yield warning('settings', `${variable} is no setting.`, `Did you mean ${setting}?`);
  }
}

function* checkPublicUrl({ publicUrl }: Settings): Generator<Finding> {
  if (publicUrl === null) return;
  const { protocol, hostname } = new URL(publicUrl);
  if (protocol === 'https:') {
    yield ok('tls', 'PUBLIC_URL is https.');
  } else if (!isLoopback(hostname)) {
    yield problem(
      'tls',
      `PUBLIC_URL is http, so credentials travel in clear to ${hostname}.`,
      'Put a proxy with TLS in front of the service, and set PUBLIC_URL to its https address.',
    );
  }
}

/** Whether users can come: nobody goes live on an address of this machine. */
export const isForUsers = (publicUrl: string | null): publicUrl is string =>
  publicUrl !== null && !isLoopback(new URL(publicUrl).hostname);

export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^127\.|^\[?::1\]?$/.test(host);
}
