import { readFile } from 'node:fs/promises';
import { markdownTable } from '@latchkey/test-kit/markdown-table';
import { parse } from 'yaml';
import { type Client, clients } from '../clients/clients.ts';

// What tests/clients proves of OAuth libraries, with the versions of the lockfiles that it installs.

const lockfile = (path: string) =>
  readFile(new URL(`../../examples/oauth-clients/${path}`, import.meta.url), 'utf8');
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

/** The table of docs/guides/oauth-clients.md. */
export async function clientsTable(): Promise<string> {
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
  return `${markdownTable([columns, ...(await Promise.all(rows))])}\n`;
}
