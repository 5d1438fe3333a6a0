import { glob, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createTestServer } from '@latchkey/testing';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../apps/server/src/cli/command-line.ts';

// What Latchkey is, in one sentence: every place that somebody meets first has the same words.

const root = new URL('../', import.meta.url);
const read = async (path: string) =>
  (await readFile(new URL(path, root), 'utf8')).replaceAll(/\s+/g, ' ');
const manifest = async (path: string) => JSON.parse(await read(`${path}/package.json`));

const { description: about } = await manifest('apps/server');
/** Without the promise that follows. A place that goes on differently has this. */
const [what = ''] = /(?<=^An )[^:]+/.exec(about) ?? [];

test('the sentence says what it is, and then what that is for', () => {
  expect(about).toMatch(
    /^An OAuth 2\.0 server for a service that already has its own sign-in: .+\.$/,
  );
  // Of GitHub, for a description.
  expect(about.length).toBeLessThanOrEqual(350);
});

describe('the whole sentence stands', () => {
  test('in package.json, the README and .github/ABOUT.md', async () => {
    expect((await manifest('.')).description).toBe(about);
    expect(await read('README.md')).toContain(`**${about}**`);
    expect(await read('.github/ABOUT.md')).toContain(about);
    expect(await read('apps/server/README.md')).toMatch(`# @latchkey/server ${about} `);
  });

  test('in latchkey --help', async () => {
    const output = { write() {} };
    const terminal = { environment: {}, stdin: process.stdin, stdout: output, stderr: output };
    const help = (await createProgram(terminal, ['--help'])).helpInformation();
    expect(help.replaceAll(/\s+/g, ' ')).toContain(about);
  });

  test('in /openapi.json, on / and on /docs', async () => {
    await using server = await createTestServer();
    const get = async (path: string) => {
      const headers = { Accept: 'text/html' };
      const text = await (await fetch(`${server.baseUrl}${path}`, { headers })).text();
      return text.replaceAll('&#39;', "'");
    };
    expect(JSON.parse(await get('/openapi.json')).info.description).toMatch(`${about}\n`);
    expect(await get('/')).toContain(`>${about}<`);
    expect(await get('/docs')).toContain(`>${about}<`);
  });

  test('in the label of the image', async () => {
    const label = `org.opencontainers.image.description="${about}"`;
    expect(await read('deploy/Dockerfile')).toContain(label);
  });
});

describe('what Latchkey is stands', () => {
  test('in the unit of systemd, which has room for a line', async () => {
    expect(await read('deploy/systemd/latchkey.service')).toContain(
      `Description=Latchkey, an ${what} `,
    );
  });

  test('in the README of each published package, and in its description', async () => {
    let count = 0;
    for await (const path of glob('{packages,apps}/*/package.json', { cwd: fileURLToPath(root) })) {
      const folder = path.replace('/package.json', '');
      const { private: isPrivate, description, name } = await manifest(folder);
      if (isPrivate) continue;
      count += 1;
      expect(await read(`${folder}/README.md`), folder).toContain(what);
      // It is for every server.
      if (name !== 'oauth-race') expect(description, folder).toContain(what);
    }
    expect(count).toBe(5);
  });
});
