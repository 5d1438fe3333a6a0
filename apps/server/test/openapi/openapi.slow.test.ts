import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, send } from '../http/call.ts';
import { sqliteDatabase } from '../http/databases.ts';
import { useServer } from '../http/running-server.ts';
import { installTools, ruleset, run } from './tools.ts';

// Checks /openapi.json with two linters. tests/clients/generators.test.ts generates clients from it.

describe('/openapi.json', () => {
  const server = useServer(sqliteDatabase);
  let bin: string;
  let folder: string;

  beforeAll(async () => {
    bin = await installTools();
    folder = await mkdtemp(join(tmpdir(), 'latchkey-openapi-'));
    const { text } = await send(server, { method: 'GET', path: '/openapi.json' });
    await writeFile(join(folder, 'openapi.json'), text);
  }, INSTALL_TIMEOUT_MS);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const redocly = (file: string) =>
    run(
      join(bin, 'redocly'),
      ['lint', file, '--config', ruleset('redocly.yaml'), '--format', 'stylish'],
      folder,
    );
  const spectral = (file: string) =>
    run(
      join(bin, 'spectral'),
      ['lint', file, '--ruleset', ruleset('spectral.yaml'), '--fail-severity', 'hint'],
      folder,
    );

  test('passes Redocly', async () => {
    expect(await redocly('openapi.json')).toMatch(/Your API description is valid/);
  });

  test('passes Spectral', async () => {
    expect(await spectral('openapi.json')).toMatch(/No results/);
  });

  test('has examples that both linters check against the schemas', async () => {
    const document: Json = JSON.parse(await readFile(join(folder, 'openapi.json'), 'utf8'));
    const { responses } = document.paths['/oauth/convert'].post;
    delete responses[200].content['application/json'].example.account.verified;
    responses[401].content['application/json'].examples.credentials_invalid.value.error_code = 'no';
    await writeFile(join(folder, 'broken.json'), JSON.stringify(document));
    for (const lint of [redocly, spectral]) {
      const said = await lint('broken.json').then(
        () => expect.fail('There are two wrong examples in this.'),
        (error: Error) => error.message,
      );
      expect(said).toMatch(/verified/);
      expect(said).toMatch(/credentials_invalid/);
    }
  });
});
