import { isLoopbackHost } from './loopback.ts';
import type { Settings } from './settings.ts';

/** Whether a demo may be made: only where nobody has begun to set the service up. */
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

/**
 * Whether a demo application and a demo host show the linking flow: where a demo may be made, and only
 * this machine can reach the service.
 */
export function isLinkingDemo(settings: DemoConditions): boolean {
  const { signInUrl, host, trustProxy } = settings;
  return isDemoAllowed(settings) && signInUrl === null && isLoopbackHost(host) && !trustProxy;
}
