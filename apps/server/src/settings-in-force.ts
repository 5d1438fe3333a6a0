import type { Setting } from '@latchkey/schema';
import { defaultOf, isSecret, type Settings, settingNames } from './settings.ts';

/** With no part of a secret, in the order of `docs/operations.md`. */
export function settingsInForce(settings: Settings): Setting[] {
  return settingNames.map((name) => ({
    name,
    value: shownValue(settings, name),
    source: settings.given.get(name)?.source ?? 'default',
  }));
}

function shownValue(settings: Settings, name: string): string | null {
  if (name === 'DATABASE_URL') return withoutSecrets(settings.databaseUrl);
  if (isSecret(name)) return null;
  // The demo and the test server set some themselves.
  const value = settings[camelCase(name)];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return settings.given.get(name)?.text ?? defaultOf(name);
}

const camelCase = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Settings;

/** Without user, password and query. Nothing is left of a URL that the driver refuses. */
function withoutSecrets(databaseUrl: string): string {
  const [, scheme = '', rest = ''] = /^(file:|[a-z+]+:\/\/)(.*)$/s.exec(databaseUrl) ?? [];
  if (scheme === 'file:') return scheme + withoutQuery(rest);
  const at = rest.lastIndexOf('@');
  // The driver wants these escaped in a user and a password. Otherwise the @ may be in the query.
  if (/[/?#]/.test(rest.slice(0, at + 1))) return scheme;
  return scheme + withoutQuery(rest.slice(at + 1));
}

const withoutQuery = (address: string) => address.replace(/\?.*$/s, '');
