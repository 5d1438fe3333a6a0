import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Browser } from './clients/browser.ts';
import { examplesFolder } from './support/examples-folder.ts';
import { freePort, startLinkingProgram } from './support/linking-program.ts';
import { codeBlocks } from './support/markdown.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import type { RunningProgram } from './support/program.ts';
import { environment, type ServiceProcess, startService } from './support/service.ts';

// Runs the functions of docs/guides/hosts.md as a host, with the real service.

const guide = await readFile(new URL('../docs/guides/hosts.md', import.meta.url), 'utf8');
const functions = codeBlocks(guide)
  .filter(({ language }) => language === 'ts')
  .map(({ code }) => code);

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';
const OTHER_ACCOUNT = '0193aa00-0000-7000-8000-0000000000b0';

/** What a host has, with two users and a cookie in the place of a session. */
const hostWith = (add: string) => `${functions.join('')}
import { LatchkeyAdmin } from '@latchkey/client/admin';
import express from 'express';

const app = express();
const form = (action, fields) => '<form method="post" action="' + action + '">' + fields + '</form>';
const host = {
  accountOf: ({ headers: { cookie = '' } }) =>
    cookie.includes('user=ada') ? '${ACCOUNT}' : cookie.includes('user=bob') ? '${OTHER_ACCOUNT}' : null,
  signIn(response, next) {
    const hidden = '<input type="hidden" name="next" value="' + next + '">';
    response.send(form('/password', hidden + '<button>Sign in</button>'));
  },
  ask(response, asked, link) {
    const field = (name, value) => '<input type="hidden" name="' + name + '" value="' + value + '">';
    const hidden = field('link', link) + field('account_id', asked.account_id);
    const title = asked.scopes[0].title;
    const button = (name) => '<button name="decision" value="' + name + '">' + name + '</button>';
    response.send(title + form('/sign-in', hidden + button('allow') + button('deny')));
  },
};
app.post('/password', express.urlencoded(), (request, response) => {
  response.cookie('user', 'ada').redirect(303, request.body.next);
});
app.get('/bob', (_request, response) => {
  response.cookie('user', 'bob').send('Signed in as Bob');
});
app.get('/settings', (_request, response) => {
  response.send(form('/connected-applications', '<button>Connected applications</button>'));
});
const admin = new LatchkeyAdmin();
addConnections(app, admin, host);
${add}(app, admin, host);
app.listen(process.env.PORT, '127.0.0.1');
`;

let folder: string;
let service: ServiceProcess;
let host: RunningProgram;
let authorizationUrl: string;

/** Starts the service and a host that uses one of the functions. */
async function start(add: string): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-hosts-'));
  const [servicePort, port] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${servicePort}`;
  const SIGN_IN_URL = `http://127.0.0.1:${port}/sign-in`;
  const settings = { PORT: servicePort, PUBLIC_URL: url, SIGN_IN_URL, ADMIN_SECRET };
  service = await startService({ cwd: folder, env: environment(settings) });
  const words = [process.execPath, '--input-type=module-typescript', '--eval', hostWith(add)];
  host = await startLinkingProgram(words, port, {
    cwd: examplesFolder,
    env: environment({ PORT: port, LATCHKEY_URL: url, LATCHKEY_ADMIN_SECRET: ADMIN_SECRET }),
  });
  await operator(service, 'PUT', `/accounts/${ACCOUNT}`, { username: 'ada', display_name: 'Ada' });
  await operator(service, 'PUT', `/accounts/${OTHER_ACCOUNT}`, { username: 'bob' });
  await operator(service, 'PUT', '/scopes/profile.read', { title: 'Read your profile' });
  const application = await operator<{ id: string }>(service, 'POST', '/applications', {
    name: 'Acme',
    redirect_uris: ['http://127.0.0.1:1/callback'],
    public: true,
  });
  authorizationUrl = `${url}/oauth/authorize?${new URLSearchParams({
    client_id: application.id,
    response_type: 'code',
    scope: 'profile.read',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    state: 'theirs',
  })}`;
}

afterEach(async () => {
  await host.stop();
  await service.stop();
  await rm(folder, { recursive: true });
});

/** A browser that stops at the callback of the application. */
const toCallback = () => new Browser(({ pathname }) => pathname === '/callback');

describe('a host with the sign-in page of the guide', () => {
  beforeEach(() => start('addSignIn'));

  test('leads to the consent page, to another account, and to the connected applications', async () => {
    const browser = toCallback();
    const consent = await browser.press(await browser.open(authorizationUrl), 'Sign in');
    expect(consent.url.pathname).toMatch(/^\/link\//);
    // Signed in already, but another account is asked for.
    const again = await browser.press(consent, 'Use another account');
    const { url } = await browser.press(await browser.press(again, 'Sign in'), 'Allow');
    expect(url.searchParams.get('code')).toMatch(/^lk_code_/);

    const settings = await browser.open(`${host.url}/settings`);
    const list = await browser.press(settings, 'Connected applications');
    expect(list.url.href).toBe(`${service.url}/connections`);
    expect(list.text).toContain(`href="${host.url}/"`);
  });
});

describe('a host with the consent page of the guide', () => {
  beforeEach(() => start('addConsent'));

  test('decides as the user does, and for no other site', async () => {
    const browser = toCallback();
    const asked = await browser.press(await browser.open(authorizationUrl), 'Sign in');
    expect(asked.text).toContain('Read your profile');
    const allowed = await browser.press(asked, 'allow');
    expect(allowed.url.searchParams.get('code')).toMatch(/^lk_code_/);

    const next = await browser.open(authorizationUrl);
    const denied = await browser.press(next, 'deny');
    expect(denied.url.searchParams.get('error')).toBe('access_denied');

    const third = await browser.open(authorizationUrl);
    const elsewhere = { ...third, url: new URL('http://localhost:1/') };
    const text = third.text.replace('action="', `action="${host.url}`);
    expect(await browser.press({ ...elsewhere, text }, 'allow')).toMatchObject({ status: 403 });
  });

  test('links no account of somebody who has signed in since the question was shown', async () => {
    const browser = toCallback();
    const asked = await browser.press(await browser.open(authorizationUrl), 'Sign in');
    expect(asked.text).toContain(ACCOUNT);
    await browser.open(`${host.url}/bob`);
    const again = await browser.press(asked, 'allow');
    expect(again.text).toContain(OTHER_ACCOUNT);
    expect(again.url.pathname).toBe('/sign-in');
    const allowed = await browser.press(again, 'allow');
    expect(allowed.url.searchParams.get('code')).toMatch(/^lk_code_/);
  });
});
