import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Browser, type Page } from '../clients/browser.ts';
import { freePort, startLinkingProgram } from './linking-program.ts';
import { ADMIN_SECRET, operator } from './operator.ts';
import type { RunningProgram } from './program.ts';
import { type Environment, environment, type ServiceProcess, startService } from './service.ts';

/** The service, whose sign-in page is a host in a process of its own, and a public application. */
export interface Hosted {
  service: ServiceProcess;
  host: RunningProgram;
  /** With the role `host`. */
  keyOfHost: string;
  application_id: string;
  /** Where the application sends a browser. */
  authorizationUrl: string;
  stop(): Promise<void>;
}

/**
 * Starts the service and a host.
 *
 * @param commandOf - returns the command that runs the host on a port, in a folder of its own
 * @param more - more of its environment
 */
export async function startHosted(
  commandOf: (port: string, folder: string) => readonly string[] | Promise<readonly string[]>,
  more: Environment = {},
): Promise<Hosted> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-hosts-'));
  const [servicePort, port] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${servicePort}`;
  const HOST_URL = `http://127.0.0.1:${port}`;
  const settings = { PORT: servicePort, PUBLIC_URL: url, SIGN_IN_URL: `${HOST_URL}/link` };
  const env = environment({ ...settings, ADMIN_SECRET });
  const service = await startService({ cwd: folder, env });
  const { secret } = await operator<{ secret: string }>(service, 'POST', '/keys', {
    name: 'Sign-in page',
    role: 'host',
  });
  const host = await startLinkingProgram(await commandOf(port, folder), port, {
    cwd: folder,
    env: environment({
      ...more,
      PORT: port,
      HOST_URL,
      LATCHKEY_URL: url,
      LATCHKEY_ADMIN_SECRET: secret,
    }),
  });
  await operator(service, 'PUT', '/scopes/profile.read', { title: 'Read your profile' });
  const { id } = await operator<{ id: string }>(service, 'POST', '/applications', {
    name: 'Acme',
    redirect_uris: ['http://127.0.0.1:1/callback'],
    public: true,
  });
  const request = new URLSearchParams({
    client_id: id,
    response_type: 'code',
    scope: 'profile.read',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    state: 'theirs',
  });
  return {
    service,
    host,
    keyOfHost: secret,
    application_id: id,
    authorizationUrl: `${url}/oauth/authorize?${request}`,
    async stop() {
      await host.stop();
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** A browser that stops at the callback of the application. */
export const toCallback = () => new Browser(({ pathname }) => pathname === '/callback');

/** A page as another site would show it, with the same forms. */
export function onAnotherSite({ url, text, ...page }: Page): Page {
  const forms = text.replaceAll(/<form([^>]*)>/g, (_, attributes: string) => {
    const action = new URL(/ action="([^"]*)"/.exec(attributes)?.at(1) ?? url, url).href;
    return `<form action="${action.replaceAll('&', '&amp;')}"${attributes.replace(/ action="[^"]*"/, '')}>`;
  });
  return { ...page, url: new URL('http://localhost:1/'), text: forms };
}

/**
 * The tests of every host.
 *
 * @param button - what signs in. Another button is "Cancel"
 */
export function testHandOff(hosted: () => Hosted, button = 'Sign in'): void {
  test('leads to the consent page, and to another account', async () => {
    const browser = toCallback();
    const consent = await browser.press(await browser.open(hosted().authorizationUrl), button);
    expect(consent.url.pathname).toMatch(/^\/link\//);
    // Signed in already, but another account is asked for.
    const again = await browser.press(consent, 'Use another account');
    const { url } = await browser.press(await browser.press(again, button), 'Allow');
    expect(url.searchParams.get('code')).toMatch(/^lk_code_/);
  });

  test('tells the application that the user has given up', async () => {
    const browser = toCallback();
    const { url } = await browser.press(await browser.open(hosted().authorizationUrl), 'Cancel');
    expect(url.searchParams.get('error')).toBe('access_denied');
  });
}
