import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { Hosts } from '../hosts.ts';
import { loadLogin } from '../login/module.ts';
import { Browser } from './browser.ts';

const REDIRECT_URI = 'http://127.0.0.1:8976/callback';

/** A login with a session in cookies, a hidden field, and a page that asks for consent. */
async function startLogin() {
  const sent: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { method, url = '', headers } = request;
    sent.push(`${method} ${url} ${headers.cookie ?? '-'} ${body}`);
    const page = (form: string) => response.end(`<p>Ada</p>${form}`);
    if (url.startsWith('/authorize')) {
      response.setHeader('set-cookie', ['step=1; Path=/; HttpOnly', 'old=1']);
      return page(`<form method=POST action="/login?a=1&amp;b=2">
        <input type="hidden" name="csrf" value="&quot;&#52;2&quot;"><input name='username'>
        <input type=checkbox name=remember value=yes><input type="submit" name="cancel" value="x">
      </form>`);
    }
    if (url.startsWith('/login')) {
      response.setHeader('set-cookie', ['step=2', 'old=; Max-Age=0']);
      return void response.writeHead(302, { location: '/consent' }).end();
    }
    if (body === '') return page('<form method="post"><input name="scope" value="all"></form>');
    response.writeHead(303, { location: `${REDIRECT_URI}?code=the-code` }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, sent };
}

const newBrowser = () =>
  new Browser({ redirectUri: REDIRECT_URI, hosts: new Hosts([]), timeout: 60_000 });

test('the login of the README goes through forms, cookies and redirects', async () => {
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const [, code = ''] = /^```ts\n([\s\S]*?)```/m.exec(readme) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'oauth-race-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'login.ts');
  await writeFile(file, code);
  const login = await loadLogin(file);
  const { url, sent } = await startLogin();
  const browser = newBrowser();
  expect(await login(`${url}/authorize?x=1`, browser)).toBe(`${REDIRECT_URI}?code=the-code`);
  expect(browser.isDone).toBe(true);
  expect(sent).toEqual([
    'GET /authorize?x=1 - ',
    'POST /login?a=1&b=2 step=1; old=1 csrf=%2242%22&username=ada&password=a-test-password',
    'GET /consent step=2 ',
    'POST /consent step=2 scope=all&consent=yes',
  ]);
});

test('a cookie from elsewhere is sent', async () => {
  const { url, sent } = await startLogin();
  const browser = newBrowser();
  browser.setCookie(url, 'session=9; Path=/; HttpOnly');
  await browser.post(`${url}/consent`, { scope: 'all' });
  expect(sent).toEqual(['POST /consent session=9 scope=all']);
  expect(browser.isDone).toBe(true);
});

test('a page without the form says where the login is', async () => {
  const { url } = await startLogin();
  const browser = newBrowser();
  await browser.open(`${url}/authorize`);
  expect(browser.text).toContain('Ada');
  expect(() => browser.submit({}, 1)).toThrow('The page /authorize (status 200) has no form');
  await expect(browser.open('https://elsewhere.example/')).rejects.toThrow('--host');
});
