import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
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
  const { url } = await startServer(async (request, response) => {
    const body = await text(request);
    const { method, url: path = '', headers } = request;
    sent.push(`${method} ${path} ${headers.cookie ?? '-'} ${body}`);
    const page = (form: string) => response.end(`<p>Ada</p>${form}`);
    if (path.startsWith('/authorize')) {
      response.setHeader('set-cookie', ['step=1; Path=/; HttpOnly', 'old=1']);
      return page(`<form method=POST action="/login?a=1&amp;b=2">
        <input type="hidden" name="csrf" value="&quot;&#52;2&quot;"><input name='username'>
        <input type=checkbox name=remember value=yes><input type="submit" name="cancel" value="x">
      </form>`);
    }
    if (path.startsWith('/login')) {
      response.setHeader('set-cookie', ['step=2', 'old=; Max-Age=0']);
      return void response.writeHead(302, { location: '/consent' }).end();
    }
    if (body === '') return page('<form method="post"><input name="scope" value="all"></form>');
    response.writeHead(303, { location: `${REDIRECT_URI}?code=the-code` }).end();
  });
  return { url, sent };
}

async function startServer(handle: RequestListener) {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}` };
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

test('with another host named, no redirect leads to the loopback', async () => {
  const { url, sent } = await startLogin();
  const { port } = new URL(url);
  const server = await startServer((_, response) =>
    response.writeHead(302, { location: `http://localhost:${port}/consent` }).end(),
  );
  const open = (hosts: string[]) =>
    new Browser({ redirectUri: REDIRECT_URI, hosts: new Hosts(hosts), timeout: 60_000 }).open(
      server.url,
    );
  await expect(open(['127.0.0.1'])).rejects.toThrow('localhost, which is not named by --host');
  expect(sent).toEqual([]);
  await open(['127.0.0.1', 'LOCALHOST']);
  expect(sent).toHaveLength(1);
});

test('a cookie from elsewhere is sent', async () => {
  const { url, sent } = await startLogin();
  const browser = newBrowser();
  browser.setCookie(url, 'session=9; Path=/; HttpOnly');
  await browser.post(`${url}/consent`, { scope: 'all' });
  expect(sent).toEqual(['POST /consent session=9 scope=all']);
  expect(browser.isDone).toBe(true);
});

test.each([
  ['http://127.0.0.1:9108', 'http://127.0.0.1:9108/'],
  ['https://App.example.com', 'https://app.example.com/'],
  ['http://LOCALHOST:8976/cb', 'http://localhost:8976/cb'],
  ['http://127.0.0.1:80/cb', 'http://127.0.0.1/cb'],
  ['com.example.app:/cb', 'com.example.app:/cb'],
])('a redirect to %s ends there', async (redirectUri, normal) => {
  const { url } = await startServer((_, response) =>
    response.writeHead(302, { location: `${redirectUri}?code=1` }).end(),
  );
  const browser = new Browser({ redirectUri, hosts: new Hosts([]), timeout: 60_000 });
  expect(await browser.open(url)).toBe(`${normal}?code=1`);
  expect(browser.isDone).toBe(true);
});

test('a form has the fields that a browser would send', async () => {
  const sent: string[] = [];
  const { url } = await startServer((request, response) => {
    sent.push(request.url ?? '');
    response.end(`<form action="/b" data-x="a>b">
      <input name=a value="1>2" data-name="no"><input name=b value='&apos;'><input name=c disabled>
      <input type=checkbox name=d class="checked-style"><input type=checkbox name=e checked>
      <textarea name="f">\nx&lt;y</textarea>
      <select name=g><option value=1>One<option value="2" selected>Two</select>
      <select name=h><option>First</option><option>Second</option></select>
      <select name=i multiple><option>First</option></select><INPUT TYPE=FILE name=j>
    </form>`);
  });
  const browser = newBrowser();
  await browser.open(`${url}/`);
  await browser.submit({ h: 'Second' });
  expect(sent[1]).toBe('/b?a=1%3E2&b=%27&e=on&f=x%3Cy&g=2&h=Second');
});

test('only a redirect leads on, and only to a URL', async () => {
  const { url } = await startServer((request, response) =>
    response.writeHead(request.url === '/new' ? 201 : 302, { location: 'http://' }).end(),
  );
  const browser = newBrowser();
  expect(await browser.open(`${url}/new`)).toBe(`${url}/new`);
  await expect(browser.open(`${url}/old`)).rejects.toThrow('/old redirects to no URL.');
});

test('a page that starts the application leads on, unless it waits', async () => {
  const { url } = await startServer(({ url: path = '' }, response) => {
    const wait = path === '/done' ? 0 : 5;
    response.writeHead(200, { refresh: `${wait};url=${REDIRECT_URI}?code=a;b` }).end();
  });
  const browser = newBrowser();
  expect(await browser.open(`${url}/later`)).toBe(`${url}/later`);
  expect(await browser.open(`${url}/done`)).toBe(`${REDIRECT_URI}?code=a;b`);
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
