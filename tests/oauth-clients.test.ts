import { readFile } from 'node:fs/promises';
import { markdownTable } from '@latchkey/test-kit/markdown-table';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Client, clients } from './clients/clients.ts';

// docs/guides/oauth-clients.md beside what tests/clients proves, and the lockfiles that it installs.

const root = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, root), 'utf8');
const lockfile = (path: string) => read(`examples/oauth-clients/${path}`);

/** The version of a library in the lockfile of its language. */
const versions: Record<Client['language'], (library: string) => Promise<string>> = {
  async javascript(library) {
    const { importers } = parse(await lockfile('javascript/pnpm-lock.yaml'));
    // Peers follow in brackets.
    return importers['.'].dependencies[library].version.replace(/\(.*/, '');
  },
  async python(library) {
    return captured(`^${library}==(\\S+)`, await lockfile('python/requirements.txt'));
  },
  async go(library) {
    return captured(`^require ${library} v(\\S+)`, await lockfile('go/go.mod'));
  },
};

function captured(pattern: string, text: string): string {
  const [, found] = new RegExp(pattern, 'im').exec(text) ?? [];
  if (found === undefined) throw new Error(`No lockfile has ${pattern}.`);
  return found;
}

const columns = 'library version endpoints secret PKCE state issuer introspects revokes'.split(' ');

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
  const table = markdownTable([columns, ...(await Promise.all(rows))]);
  const guide = await read('docs/guides/oauth-clients.md');
  // `npm test -- oauth-clients -u` writes the table again.
  await expect(guide.replace(/^\| library .*\n(?:\|.*\n)*/m, `${table}\n`)).toMatchFileSnapshot(
    '../docs/guides/oauth-clients.md',
  );
});
