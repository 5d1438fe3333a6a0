import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Client, clients } from './clients/clients.ts';
import { tableBelow } from './support/markdown.ts';

// docs/guides/oauth-clients.md beside what tests/clients proves, and the lockfiles that it installs.

const root = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const lockfile = (path: string) => read(`examples/oauth-clients/${path}`);

/** The version of a library in the lockfile of its language. */
const versions: Record<Client['language'], (library: string) => Promise<string | undefined>> = {
  async javascript(library) {
    const { importers } = parse(await lockfile('javascript/pnpm-lock.yaml'));
    // Peers follow in brackets.
    return importers['.'].dependencies[library]?.version.replace(/\(.*/, '');
  },
  async python(library) {
    const pinned = new RegExp(`^${library}==(\\S+)`, 'im');
    return pinned.exec(await lockfile('python/requirements.txt'))?.[1];
  },
  async go(library) {
    return new RegExp(`^require ${library} v(\\S+)`, 'm').exec(await lockfile('go/go.mod'))?.[1];
  },
};

const yes = (can: boolean) => (can ? 'yes' : 'no');

test('the guide to OAuth libraries says what is installed and proved', async () => {
  const rows = clients.map(async (client) => [
    `[${client.library}](../../examples/oauth-clients/${client.program})`,
    await versions[client.language](client.library),
    client.endpoints,
    client.authentication,
    client.pkce,
    client.state,
    client.issuer,
    yes(client.introspects),
    yes(client.revokes),
  ]);
  const guide = await read('docs/guides/oauth-clients.md');
  expect(tableBelow(guide, 'What each library does')).toEqual(await Promise.all(rows));
});
