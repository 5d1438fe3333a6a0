import { isLoopbackHost } from '@latchkey/domain/loopback';
import type { Settings } from './settings.ts';

type DemoConditions = Pick<
  Settings,
  'databaseIsDefault' | 'adminSecret' | 'host' | 'publicUrl' | 'trustProxy'
>;

/** Why there is no demo. It signs everybody in, so it is for the person at this machine alone. */
export function* demoObstacles(settings: DemoConditions): Generator<string> {
  const { databaseIsDefault, adminSecret, host, publicUrl, trustProxy } = settings;
  if (!databaseIsDefault) yield 'DATABASE_URL is set';
  if (adminSecret !== null) yield 'ADMIN_SECRET is set';
  if (!isLoopbackHost(host)) yield 'HOST is not a loopback address';
  if (publicUrl !== null && !isLoopbackHost(new URL(publicUrl).hostname)) {
    yield 'PUBLIC_URL does not name a loopback host';
  }
  if (trustProxy) yield 'TRUST_PROXY is on';
}

/** SIGN_IN_URL needs an ADMIN_SECRET, so a demo has the linking flow to itself. */
export function isDemo(settings: DemoConditions): boolean {
  return demoObstacles(settings).next().done === true;
}
