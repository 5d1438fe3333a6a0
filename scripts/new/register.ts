import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Refused } from './order.mjs';
import type { Role } from './projects.mjs';
import { startOf } from './start-of-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const command = join(root, 'apps/server/src/cli/latchkey.ts');
// As bin/latchkey.
const NODE_COMPILE_CACHE = join(root, 'node_modules/.cache/latchkey');

/** What a project is registered with. */
export interface Registration {
  role: Role;
  /** That users see. */
  name: string;
  /** Of the service. */
  url: string;
  port: number;
  environment: NodeJS.ProcessEnv;
}

type Words = readonly string[];

/** Runs a command of the operator. Its output is never printed: it may have a secret. */
async function operate<Result>({ url, environment }: Registration, words: Words): Promise<Result> {
  const { LATCHKEY_ADMIN_SECRET, LATCHKEY_ADMIN_SECRET_FILE } = environment;
  const isOverTheWire = Boolean(LATCHKEY_ADMIN_SECRET || LATCHKEY_ADMIN_SECRET_FILE);
  const args = [command, ...words, '--json', ...(isOverTheWire ? ['--service', url] : [])];
  const child = spawn(process.execPath, args, {
    env: { NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) throw new Refused(`The project could not be registered.\n${stderr.trim()}`);
  return JSON.parse(stdout);
}

interface Listed<Item> {
  data: Item[];
}

async function describeScopes(of: Registration, titles: Readonly<Record<string, string>>) {
  const { data } = await operate<Listed<{ scope: string }>>(of, ['scope', 'list']);
  for (const [scope, title] of Object.entries(titles)) {
    if (data.some((described) => described.scope === scope)) continue;
    await operate(of, ['scope', 'put', scope, '--title', title]);
  }
}

/** The commands may have worked on the database of another service, which then keeps nothing of it. */
async function confirm(
  of: Registration,
  { path, request, undo }: { path: string; request: RequestInit; undo: readonly Words[] },
): Promise<void> {
  const isKnown = await fetch(of.url + path, request).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isKnown) return;
  for (const words of undo) await operate(of, words);
  throw new Refused(
    `The service at ${of.url} does not know what was registered. Give this command the DATABASE_URL of the service, or a key of it in LATCHKEY_ADMIN_SECRET.`,
  );
}

/** Registers a project, and resolves to its settings. */
export const registrars: Readonly<
  Record<Role, (of: Registration, issuer: string) => Promise<Record<string, string>>>
> = {
  async application(of, issuer) {
    const { name, port } = of;
    const REDIRECT_URI = `http://127.0.0.1:${port}/callback`;
    const titles = { 'profile.read': 'Read your profile', 'posts.read': 'Read your posts' };
    const scopes = Object.keys(titles).flatMap((scope) => ['--scope', scope]);
    const words = ['app', 'create', name, '--redirect-uri', REDIRECT_URI, ...scopes];
    const { id, secret } = await operate<{ id: string; secret: string }>(of, words);
    const basic = Buffer.from(`${id}:${secret}`).toString('base64');
    await confirm(of, {
      path: '/oauth/introspect',
      request: {
        method: 'POST',
        headers: { Authorization: `Basic ${basic}` },
        body: new URLSearchParams({ token: 'none' }),
      },
      undo: [
        ['app', 'disable', id],
        ['app', 'delete', id, '--yes'],
      ],
    });
    await describeScopes(of, titles);
    return {
      LATCHKEY_URL: issuer,
      LATCHKEY_APPLICATION_SECRET: secret,
      // By the names of OAuth libraries.
      CLIENT_ID: id,
      CLIENT_SECRET: secret,
      REDIRECT_URI,
      PORT: String(port),
    };
  },
  async host(of, issuer) {
    const { name, port, url } = of;
    if ((await fetch(`${url}/admin/self`)).status === 404) {
      throw new Refused(
        `The service at ${url} has no routes of the operator, which a host calls. ${startOf(of)}`,
      );
    }
    const words = ['key', 'create', name, '--role', 'host'];
    const { id, secret } = await operate<{ id: string; secret: string }>(of, words);
    await confirm(of, {
      path: '/admin/self',
      request: { headers: { Authorization: `Bearer ${secret}` } },
      undo: [['key', 'delete', id, '--yes']],
    });
    return {
      LATCHKEY_URL: issuer,
      LATCHKEY_ADMIN_SECRET: secret,
      HOST_URL: `http://127.0.0.1:${port}`,
      PORT: String(port),
    };
  },
  async mcp(of, issuer) {
    const { name, port } = of;
    const RESOURCE = `http://127.0.0.1:${port}/mcp`;
    await describeScopes(of, { 'notes.read': 'Read your notes' });
    const { data } = await operate<Listed<{ resource: string }>>(of, ['resource', 'list']);
    if (!data.some(({ resource }) => resource === RESOURCE)) {
      const words = ['resource', 'create', RESOURCE, '--name', name, '--scope', 'notes.read'];
      await operate(of, words);
    }
    return { LATCHKEY_URL: issuer, RESOURCE, SERVER_URL: RESOURCE, PORT: String(port) };
  },
};
