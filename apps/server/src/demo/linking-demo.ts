import { randomBytes } from 'node:crypto';
import { MAX_ENDPOINTS_OF_APPLICATION, newEndpoint } from '@latchkey/rules/events/endpoints';
import type { EventsSettings } from '@latchkey/rules/events/events';
import { MAX_SCOPES } from '@latchkey/rules/linking/put-scope';
import type { Service } from '@latchkey/rules/service';
import { openClaim } from '@latchkey/rules/vouchers';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { plainApplication } from '@latchkey/store/plain-application';
import type { ApplicationChanges } from '@latchkey/store/records';
import type { Settings } from '../settings.ts';
import { demoLogos } from './demo-logos.ts';
import { demoAccounts, demoScope } from './demo-records.ts';

export const DEMO_APPLICATION_ID = '0193aa00-0000-7000-8000-00000000de00';
export const DEMO_SECRET_ID = '0193aa00-0000-7000-8000-00000000de01';

export const demoPaths = {
  application: '/demo',
  connect: '/demo/connect',
  callback: '/demo/callback',
  signIn: '/demo/sign-in',
  connections: '/demo/connections',
  end: '/demo/end',
  events: '/demo/events',
  style: '/demo/page.css',
} as const;

export function withLinkingDemo(settings: Settings, url: string): Settings {
  const publicUrl = settings.publicUrl ?? url;
  return {
    ...settings,
    publicUrl,
    signInUrl: publicUrl + demoPaths.signIn,
    pageHome: settings.pageHome ?? publicUrl + demoPaths.application,
    pageName: settings.pageName ?? 'Demo Service',
    pageLogo: settings.pageLogo ?? demoLogos.host,
  };
}

/** With a key of its own, anew at each start. `seedDemoEndpoint` adds the address of the service. */
export function createDemoEvents(): EventsSettings {
  const current = randomBytes(32).toString('base64url');
  return { keys: () => ({ current, previous: null }), allow: {} };
}

/** Existing records stay as they are: the operator may have changed them. */
export async function seedLinkingDemo({ store, clock }: Service, publicUrl: string): Promise<void> {
  for (const account of Object.values(demoAccounts)) await store.putAccount(account);
  const scopes = await store.listScopes();
  if (!scopes.some(({ scope }) => scope === demoScope.scope)) {
    await store.putScope(demoScope, { most: MAX_SCOPES });
  }
  const addresses: ApplicationChanges = {
    redirect_uris: [publicUrl + demoPaths.callback],
    homepage_uri: publicUrl + demoPaths.application,
  };
  if ((await store.updateApplication(DEMO_APPLICATION_ID, addresses)) !== null) return;
  await store.createApplication({
    ...plainApplication,
    id: DEMO_APPLICATION_ID,
    name: 'Demo Application',
    created_at: clock(),
    redirect_uris: [publicUrl + demoPaths.callback],
    scopes: [demoScope.scope],
    logo_uri: demoLogos.application,
    homepage_uri: publicUrl + demoPaths.application,
    challenge_required: true,
  });
}

/** The demo application is told what happens, at the address where the service listens. */
export async function seedDemoEndpoint(
  { store, clock }: Service,
  { allow }: EventsSettings,
  url: string,
): Promise<void> {
  allow.ownOrigin = new URL(url).origin;
  const address = url + demoPaths.events;
  const again = { url: address, types: null, disabled_reason: null };
  if ((await store.updateEndpoint(DEMO_ENDPOINT_ID, again)) !== null) return;
  const members = { application_id: DEMO_APPLICATION_ID, url: address, types: null };
  const endpoint = newEndpoint(DEMO_ENDPOINT_ID, members, clock());
  await store.createEndpoint(endpoint, { most: MAX_ENDPOINTS_OF_APPLICATION });
}

export async function isDemoApplicationLive({ store }: Service): Promise<boolean> {
  const application = await store.findApplication(DEMO_APPLICATION_ID);
  return application !== null && !application.disabled;
}

/** Where the service was when it last started; null if it has not yet. */
export async function findDemoUrl({ store }: Service): Promise<string | null> {
  const application = await store.findApplication(DEMO_APPLICATION_ID);
  const [uri] = application?.redirect_uris ?? [];
  const callback = uri && openClaim(uri, 'operator');
  return callback?.endsWith(demoPaths.callback)
    ? callback.slice(0, -demoPaths.callback.length)
    : null;
}

export function linkingDemoText(demoUrl: string): string {
  return `Open ${demoUrl} to link an account in your browser.\n`;
}
