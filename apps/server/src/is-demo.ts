import { isLoopbackHost } from '@latchkey/domain/loopback';

/** The settings that decide. */
export interface DemoConditions {
  readonly databaseIsDefault: boolean;
  readonly adminSecret: string | null;
  readonly host: string;
  readonly publicUrl: string | null;
  readonly trustProxy: boolean;
}

/** Why there is no demo. It signs everybody in, so it is for the person at this machine alone. */
export function demoObstacles(settings: DemoConditions): string[] {
  const { databaseIsDefault, adminSecret, host, publicUrl, trustProxy } = settings;
  const isPublic = publicUrl !== null && !isLoopbackHost(new URL(publicUrl).hostname);
  return [
    !databaseIsDefault && 'DATABASE_URL is set',
    adminSecret !== null && 'ADMIN_SECRET is set',
    !isLoopbackHost(host) && 'HOST is not a loopback address',
    isPublic && 'PUBLIC_URL does not name a loopback host',
    trustProxy && 'TRUST_PROXY is on',
  ].filter((obstacle) => obstacle !== false);
}

/** SIGN_IN_URL needs an ADMIN_SECRET, so a demo has the linking flow to itself. */
export function isDemo(settings: DemoConditions): boolean {
  return demoObstacles(settings).length === 0;
}
