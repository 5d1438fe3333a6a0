import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Latchkey } from '@latchkey/client';
import { protectedResourceResponse, requireGrant } from '@latchkey/client/guards';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort, startLinkingProgram } from '../support/linking-program.ts';
import { codeBlocks } from '../support/markdown.ts';
import { ADMIN_SECRET, operator } from '../support/operator.ts';
import type { RunningProgram } from '../support/program.ts';
import { environment, type ServiceProcess, startService } from '../support/service.ts';
import { describeRole, installRole } from './programs.ts';

// The APIs of examples/guards refuse what the guards of the SDK refuse, in the same words.

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');

test('the guide shows a part of the program', async () => {
  const blocks = codeBlocks(await read('docs/guides/guard-a-server.md'));
  const part = blocks.find(({ language }) => language === 'python');
  expect(part?.code.length).toBeGreaterThan(100);
  expect(await read('examples/guards/fastapi/guard.py')).toContain(part?.code);
});

const ACCOUNT = '0193aa00-0000-7000-8000-0000000000a1';

describeRole('guard', await installRole('guard'), (command) => {
  let folder: string;
  let service: ServiceProcess;
  let guard: RunningProgram;
  let resource: string;
  let latchkey: Latchkey;
  let application_id: string;
  let credentials: { CLIENT_ID: string; CLIENT_SECRET: string };

  /** Starts the program. */
  const start = async (port: string, LATCHKEY_URL: string, RESOURCE: string | null = resource) => {
    const settings = { PORT: port, LATCHKEY_URL, ...(RESOURCE && { RESOURCE }), ...credentials };
    const env = environment({ PYTHONDONTWRITEBYTECODE: '1', ...settings });
    return startLinkingProgram(command(port), port, { cwd: folder, env });
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-guard-'));
    const port = await freePort();
    resource = `http://127.0.0.1:${port}/notes`;
    const PUBLIC_URL = `http://127.0.0.1:${await freePort()}`;
    const settings = { ADMIN_SECRET, PUBLIC_URL, PORT: new URL(PUBLIC_URL).port };
    service = await startService({ cwd: folder, env: environment(settings) });
    type Application = { id: string; secret: string };
    const create = (body: object) => operator<Application>(service, 'POST', '/applications', body);
    const api = await create({ name: 'Notes', resource_server: true });
    credentials = { CLIENT_ID: api.id, CLIENT_SECRET: api.secret };
    const acme = await create({ name: 'Acme' });
    application_id = acme.id;
    latchkey = new Latchkey({ baseUrl: service.url, applicationSecret: acme.secret });
    await operator(service, 'PUT', `/accounts/${ACCOUNT}`, { username: 'ada' });
    for (const address of [resource, 'https://other.example/notes']) {
      await operator(service, 'POST', '/resources', { resource: address, name: 'Notes' });
    }
    guard = await start(port, service.url);
  });
  afterAll(async () => {
    await guard?.stop();
    await service?.stop();
    await rm(folder, { recursive: true });
  });

  /** Links the account. */
  async function link(scope: string, of: string | undefined = resource) {
    const about = { application_id, account_id: ACCOUNT, scope, resource: of };
    const { code } = await operator<{ code: string }>(service, 'POST', '/codes', about);
    const { grant_id, grant_secret } = await latchkey.convert(code);
    return { grant_id, authorization: `Bearer ${grant_secret}` };
  }

  const ask = (authorization?: string, url = resource) =>
    fetch(url, { headers: authorization === undefined ? {} : { authorization } });

  /** The status, the challenge and `Retry-After` of a refusal. */
  const refusalIn = ({ status, headers }: Response) => ({
    status,
    challenge: headers.get('WWW-Authenticate'),
    retryAfter: headers.get('Retry-After'),
  });

  /** Expects that the program refuses a request as the SDK does. */
  async function refused(status: number, authorization?: string): Promise<void> {
    const { headers } = new Request(resource, authorization ? { headers: { authorization } } : {});
    const ours = await requireGrant({ headers }, { latchkey, resource, scope: 'notes.read' }).then(
      () => new Response(),
      (error) => error.toResponse() as Response,
    );
    expect(ours.status).toBe(status);
    expect(refusalIn(await ask(authorization))).toEqual(refusalIn(ours));
  }

  test('accepts a live grant, and refuses it once it is revoked', async () => {
    const { authorization, grant_id } = await link('notes.read notes.write');
    for (const header of [authorization, authorization.replace('Bearer ', 'bearer  ')]) {
      const response = await ask(header);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ owner: ACCOUNT });
    }
    await latchkey.revoke(grant_id);
    await refused(401, authorization);
  });

  test('refuses a request without a grant', async () => {
    await refused(401);
    for (const header of ['Bearer', 'Bearer nothing', 'Basic bm90aGluZw==', 'Bearer a b']) {
      await refused(401, header);
    }
  });

  test('refuses the grant of another resource, and of none', async () => {
    for (const of of ['https://other.example/notes', `${service.url}/v1`]) {
      await refused(401, (await link('notes.read', of)).authorization);
    }
  });

  test('refuses a grant without the scope, and names what it has and lacks', async () => {
    const { authorization } = await link('notes.write profile.read');
    await refused(403, authorization);
    const { challenge } = refusalIn(await ask(authorization));
    expect(challenge).toContain('scope="notes.write profile.read notes.read"');
  });

  test('accepts, if it is not registered, the grants of no resource alone', async () => {
    const port = await freePort();
    const api = await start(port, service.url, null);
    onTestFinished(api.stop);
    const answer = async (of?: string) => {
      const { authorization } = await link('notes.read', of);
      return (await ask(authorization, `${api.url}/notes`)).status;
    };
    expect(await answer(`${service.url}/v1`)).toBe(200);
    expect(await answer()).toBe(401);
  });

  test('says where to get a grant', async () => {
    const { challenge } = refusalIn(await ask());
    const [, address = ''] = /resource_metadata="(.*?)"/.exec(challenge ?? '') ?? [];
    const scopes = ['notes.read', 'notes.write'];
    const metadata = protectedResourceResponse({
      resource,
      authorizationServer: service.url,
      scopes,
    })(new Request(address));
    const response = await fetch(address);
    expect(response.headers.get('Access-Control-Allow-Origin')).toBe('*');
    expect(await response.json()).toEqual(await metadata?.json());
  });

  test('passes on how long to wait', async () => {
    const busy = createServer((_, response) => {
      response.writeHead(429, { 'Retry-After': '7' }).end();
    }).listen(0, '127.0.0.1');
    await once(busy, 'listening');
    onTestFinished(() => void busy.close());
    const port = await freePort();
    const { port: portOfBusy } = busy.address() as AddressInfo;
    const waiting = await start(port, `http://127.0.0.1:${portOfBusy}`);
    onTestFinished(waiting.stop);
    const { authorization } = await link('notes.read');
    const answer = refusalIn(await ask(authorization, `${waiting.url}/notes`));
    expect(answer).toEqual({ status: 503, challenge: null, retryAfter: '7' });
  });

  // This test must be the last: it stops the service.
  test('accepts no live grant without Latchkey, and has printed no secret', async () => {
    const { authorization } = await link('notes.read');
    expect((await ask(authorization)).status).toBe(200);
    await service.stop();
    await refused(503, authorization);
    expect(guard.printed()).toContain('Latchkey: ');
    expect(guard.printed()).not.toMatch(/lk_(app|grant)_/);
  });
});
