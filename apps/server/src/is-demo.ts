import { isLoopbackHost } from './loopback.ts';
import type { Settings } from './settings.ts';

export function isDemoAllowed({
  databaseIsDefault,
  adminSecret,
}: Pick<Settings, 'databaseIsDefault' | 'adminSecret'>): boolean {
  return databaseIsDefault && adminSecret === null;
}

type DemoConditions = Pick<
  Settings,
  'databaseIsDefault' | 'adminSecret' | 'signInUrl' | 'host' | 'trustProxy'
>;

export function isLinkingDemo(settings: DemoConditions): boolean {
  const { signInUrl, host, trustProxy } = settings;
  return isDemoAllowed(settings) && signInUrl === null && isLoopbackHost(host) && !trustProxy;
}
