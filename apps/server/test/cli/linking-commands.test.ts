import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OperationName, operations } from '@latchkey/schema';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aDocument, DOCUMENTS } from '../cases/world.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore, type TestDatabase } from '../http/databases.ts';
import { ADMIN_SECRET, startTestServer } from '../http/running-server.ts';
import { authorize, CHALLENGE } from '../linking/link-flow.ts';

const CALLBACK = 'https://acme.example/callback';
const SETTINGS = {
  ADMIN_SECRET,
  SIGN_IN_URL: 'https://host.example/sign-in',
  PUBLIC_URL: 'https://link.example',
  ...DOCUMENTS,
};

describeOnAnyStore('the commands of the linking flow', (fresh) => {
  let database: TestDatabase;
  let folder: string;
  beforeAll(async () => {
    database = await fresh();
    folder = mkdtempSync(join(tmpdir(), 'latchkey-scopes-'));
  });
  afterAll(async () => {
    await database.remove();
    rmSync(folder, { recursive: true });
  });

  const latchkey = (words: string[], input = '') =>
    runInProcess(words, { DATABASE_URL: database.url, ...SETTINGS }, { input });

  /** Runs a command with `--json`, which has to print one line with exactly the operation's object. */
  async function json(name: OperationName, words: string[], input?: string) {
    const { code, stdout, stderr } = await latchkey([...words, '--json'], input);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const object = JSON.parse(stdout);
    expect(operations[name].output.parse(object)).toStrictEqual(object);
    return object;
  }

  async function newApplication(...more: string[]) {
    const words = ['app', 'create', 'Acme', '--redirect-uri', CALLBACK, ...more];
    return json('admin.applications.create', words);
  }
  const newAccount = () => json('admin.accounts.put', ['account', 'put', '--username', 'ada']);

  /** Begins a link request as a browser does. */
  async function newLink(): Promise<{ link: string; application: { id: string } }> {
    const application = await newApplication();
    await json('admin.scopes.put', ['scope', 'put', 'profile.read', '--title', 'Your profile']);
    const server = await startTestServer(database.url, SETTINGS);
    const { headers } = await authorize(server, {
      ...{ response_type: 'code', client_id: application.id, redirect_uri: CALLBACK },
      ...{ scope: 'profile.read', state: 'a-state' },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    });
    await server.close();
    const link = new URL(headers.get('location') ?? '').searchParams.get('link') ?? '';
    expect(link).toMatch(/^lk_link_/);
    return { link, application };
  }

  test('create and update an application, and name options where a member is wrong', async () => {
    const created = await newApplication();
    expect(created.challenge_required).toBe(true);
    const many = await latchkey(['app', 'update', created.id, '--idle-days', 'many']);
    expect(many.stderr).toMatch(/^parameter_invalid: [^\n]*\n {2}--idle-days: /);
    expect((await latchkey(['app', 'update', created.id])).code).toBe(2);

    const open = await newApplication('--public');
    expect(open).toMatchObject({ public: true, secrets: [] });
    const refused = await latchkey(['app', 'secret', 'add', open.id]);
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching('application_public: '),
    });
    const wrong = await latchkey(['app', 'create', 'A', '--redirect-uri', 'http://acme.example']);
    expect(wrong.stderr).toMatch(/^parameter_invalid: [^\n]*\n {2}--redirect-uri 1: /);
    const { stdout } = await latchkey(['app', 'get', open.id]);
    expect(stdout).toMatch(/^redirect URIs +https:\/\/acme.example\/callback$/m);
    expect(stdout).toMatch(/^public +yes$/m);
  });

  test('describe scopes from a file, and list them', async () => {
    const texts = { de: { title: 'Dein Profil lesen', description: 'Dein Name.' } };
    const file = join(folder, 'texts.json');
    writeFileSync(file, JSON.stringify(texts));
    const described = await json('admin.scopes.put', [
      ...['scope', 'put', 'a.scope', '--title', 'A scope', '--description', 'It allows a lot.'],
      ...['--texts', file, '--sensitive'],
    ]);
    expect(described.texts).toEqual(texts);
    const table = await latchkey(['scope', 'list']);
    expect(table.stdout).toContain('a.scope\tA scope\tIt allows a lot.\tde\n');
    for (const bad of [join(folder, 'none.json'), folder]) {
      const { code, stderr } = await latchkey([
        'scope',
        'put',
        'x',
        '--title',
        'X',
        '--texts',
        bad,
      ]);
      expect({ code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('--texts'),
      });
    }
  });

  test('pin, list and unpin documents', async () => {
    await newAccount();
    const { document_uri, document } = aDocument('https://app.example/client.json');
    const file = join(folder, 'client.json');
    writeFileSync(file, JSON.stringify({ ...document, client_name: 'Acme' }));
    const pin = ['document', 'pin', document_uri, file];
    const pinned = await json('admin.documents.pin', pin);
    expect(pinned).toMatchObject({ document_uri, name: 'Acme', pinned: true });
    expect((await latchkey(pin)).stdout).toBe(`The document of ${document_uri} is pinned: Acme\n`);
    const list = ['document', 'list', '--pinned'];
    expect((await json('admin.documents.list', list)).data).toMatchObject([{ document_uri }]);
    expect((await latchkey(list)).stdout).toMatch(`${document_uri}\tAcme\tpinned\tnone\t`);
    const words = [...pin.slice(0, 3), join(folder, 'none.json')];
    expect(await latchkey(words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none.json, cannot be read'),
    });
    writeFileSync(file, JSON.stringify({ ...document, client_secret: 'x' }));
    expect((await latchkey(pin)).stderr).toMatch(/^parameter_invalid: .*client_secret/s);

    const unpin = ['document', 'unpin', document_uri];
    expect(await json('admin.documents.unpin', unpin)).toMatchObject({ document_uri });
    expect((await latchkey(unpin)).stderr).toMatch(/^document_not_found: /);
    const environment = { DATABASE_URL: database.url, ...SETTINGS, CLIENT_DOCUMENTS: 'off' };
    const off = await runInProcess(list, environment);
    expect([off.code, off.stderr]).toEqual([2, expect.stringContaining('CLIENT_DOCUMENTS is off')]);
  });

  test('list resources and keys', async () => {
    const resource = await json('admin.resources.create', [
      ...['resource', 'create', 'https://MCP.example/mcp/', '--name', 'Notes'],
      ...['--scope', 'a', '--scope', 'b', '--default-scope', 'a'],
    ]);
    const { stdout } = await latchkey(['resource', 'list']);
    expect(stdout).toContain(`${resource.id}\thttps://mcp.example/mcp\tNotes\ta b\n`);
    const key = await json('admin.keys.create', ['key', 'create', 'Page', '--role', 'host']);
    const table = await latchkey(['key', 'list']);
    expect(table.stdout).toContain(`${key.id}\tPage\thost\t${key.hint}\t`);
    const shown = await latchkey(['key', 'create', 'Ada', '--role', 'read']);
    expect(shown.stdout).toMatch(/\nlk_key_[0-9A-Za-z]{71}\n$/);
    const wrong = await latchkey(['key', 'create', 'Ada', '--role', 'root']);
    expect(wrong.stderr).toContain('--role: Must be read, host, support or operate.');
  });

  test('read, identify and approve a link, from an argument and from stdin', async () => {
    const { link, application } = await newLink();
    const { id: account } = await newAccount();
    const open = await json('admin.links.read', ['link', 'read', link]);
    expect(open).toMatchObject({ status: 'open', application: { id: application.id } });
    expect(await json('admin.links.read', ['link', 'read', '-'], `${link}\n`)).toEqual(open);

    const identify = ['link', 'identify', '-', '--account', account];
    const identified = await json('admin.links.identify', identify, link);
    expect(identified.status).toBe('identified');
    expect(identified.redirect_to).toMatch(
      /^https:\/\/link\.example\/link\/\S+\?ticket=lk_ticket_/,
    );

    const approve = ['link', 'approve', link, '--account', account, '--scope', 'profile.read'];
    const approved = await json('admin.links.approve', approve);
    expect(approved).toMatchObject({ status: 'approved', account_id: account });
    expect(approved.redirect_to).toMatch(/^https:\/\/acme\.example\/callback\?code=lk_code_/);
    expect(await json('admin.links.approve', approve)).toEqual(approved);
    const { stdout } = await latchkey(approve);
    expect(stdout).toMatch(/^status +approved$/m);
    expect(stdout.endsWith(`Send the browser to:\n${approved.redirect_to}\n`)).toBe(true);
    const denied = await latchkey(['link', 'deny', link]);
    expect(denied).toMatchObject({ code: 1, stderr: expect.stringMatching(/^link_decided: /) });
  });

  test('deny a link, and keep what is typed out of every message', async () => {
    const { link } = await newLink();
    const denied = await json('admin.links.deny', ['link', 'deny', link]);
    expect(denied.status).toBe('denied');
    expect(denied.redirect_to).toMatch(/\?error=access_denied&.*state=a-state/);
    const { code, stdout, stderr } = await latchkey(['link', 'read', `${link.slice(0, -1)}?`]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^link_not_found: /);
    expect(stderr).not.toContain('lk_link_');
  });

  test('create a page, and list and revoke connections', async () => {
    const { link, application } = await newLink();
    const { id: account } = await newAccount();
    const page = await json('admin.pages.create', [
      ...['page', 'create', '--account', account, '--return-url', 'https://host.example/'],
    ]);
    expect(page.url).toMatch(/^https:\/\/link\.example\/connections\?ticket=lk_ticket_/);
    const ending = ['page', 'end', '--account', account];
    expect(await json('admin.pages.end', ending)).toEqual({
      ...{ object: 'pages_ended', account_id: account },
    });
    const identifying = ['link', 'identify', link, '--account', account, '--own-page'];
    expect((await json('admin.links.identify', identifying)).redirect_to).toBeNull();
    const listing = ['connection', 'list', '--account', account];
    expect((await json('admin.connections.list', listing)).data).toEqual([]);

    await json('admin.links.approve', ['link', 'approve', link, '--account', account]);
    const revoking = ['connection', 'revoke', '--account', account, '--app', application.id];
    const revoked = await latchkey([...revoking, '--json']);
    expect(revoked).toMatchObject({ code: 0, stderr: '' });
    expect(await json('admin.connections.revoke', revoking)).toMatchObject({
      ...{ data: [], state: 'revoked' },
    });
    const text = await latchkey(revoking);
    expect(text).toEqual({ code: 0, stdout: '0 grants are revoked.\n', stderr: '' });
  });

  test('ask for a choice, and say what was chosen', async () => {
    const { link, application } = await newLink();
    const account = (await newAccount()).id;
    const [acme, id] = [{ id: 'ws-7', label: 'Acme = & Sons' }, '7'];
    const identify = ['link', 'identify', link, '--account', account];
    const asking = [
      ...identify,
      '--choice-title',
      'Which?',
      '--choice',
      'ws-7=Acme',
      '--choice',
      id,
    ];
    expect((await json('admin.links.identify', asking)).choice).toBeNull();
    for (const alone of [
      ['--choice', 'a=A'],
      ['--choice-title', 'Which?'],
    ]) {
      const { code, stderr } = await latchkey([...identify, ...alone]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: give --choice-title and --choice, or neither\n/);
    }

    const approve = ['link', 'approve', link, '--account', account, '--choice'];
    const approved = await json('admin.links.approve', [...approve, 'ws-7=Acme = & Sons']);
    expect(approved.choice).toEqual(acme);
    const other = await latchkey([...approve, 'ws-7']);
    expect([other.code, other.stderr.includes('link_decided')]).toEqual([1, true]);

    const to = ['--app', application.id, '--account', account, '--scope', 'profile.read'];
    const issue = ['code', 'issue', ...to, '--choice'];
    const label = async (value: string) =>
      (await json('admin.codes.issue', [...issue, value])).choice;
    expect(await label('7')).toEqual({ id, label: id });
    expect(await label('7=')).toEqual({ id, label: id });
    expect(await label('7=Ada')).toEqual({ id, label: 'Ada' });
  });
});

describe('the texts of the pages', () => {
  test('are a file for PAGE_TEXTS', async () => {
    const { code, stdout } = await runInProcess(['page', 'texts'], {});
    expect(code).toBe(0);
    expect(Object.keys(JSON.parse(stdout).en).length).toBeGreaterThan(10);
  });
});
