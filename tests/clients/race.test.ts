import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '@latchkey/test-kit/cache-folder';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import type { Report, Verdict } from 'oauth-race';
import { expect, onTestFinished, test } from 'vitest';
import { withoutSettings } from '../../scripts/environment.mjs';
import { startProgram } from '../support/program.ts';
import { type Environment, environment, run, succeed } from '../support/service.ts';
import { describeWith } from '../support/tools.ts';
import { startDeployment } from './deployment.ts';
import { folder as programs } from './programs.ts';

// oauth-race, as it is published, against servers in three languages. What it finds in a server of
// another project is for that project: here it has to reach the end, and to measure every row it can.

const folder = fileURLToPath(new URL('race', import.meta.url));
const command = fileURLToPath(new URL('../../packages/race/dist/oauth-race.js', import.meta.url));

const REDIRECT_URI = 'http://127.0.0.1:8976/callback';
const secrets = { client: 'the-secret-of-the-client', other: 'the-secret-of-the-other' };

/** Runs the command with few codes. Returns the verdicts of its report. */
async function measure(
  login: string,
  words: readonly string[],
  { client, other } = secrets,
): Promise<Record<string, Verdict>> {
  const output = await mkdtemp(join(tmpdir(), 'latchkey-oauth-race-'));
  onTestFinished(() => rm(output, { recursive: true }));
  const file = join(output, 'report.json');
  const env = environment({ OAUTH_RACE_SECRET: client, OAUTH_RACE_OTHER_SECRET: other });
  const outputs = ['--codes=10', '--timeout=60000', '--json', file];
  const given = [command, '--login', join(folder, login), ...words, ...outputs];
  const { exitCode, stderr } = await run(process.execPath, given, { cwd: folder, env });
  expect(stderr).not.toMatch(/^ {4}at /m);
  const { rows } = JSON.parse(await readFile(file, 'utf8')) as Report;
  const verdicts = Object.fromEntries(rows.map(({ id, verdict }) => [id, verdict]));
  const has = (verdict: Verdict) => Object.values(verdicts).includes(verdict);
  expect(exitCode).toBe(has('fail') ? 1 : has('error') ? 2 : 0);
  return verdicts;
}

test('Latchkey, in TypeScript', async () => {
  const deployment = await startDeployment('');
  onTestFinished(deployment.close);
  const register = (name: string) =>
    deployment.admin<{ id: string; secret: string }>('POST', '/applications', {
      name,
      redirect_uris: ['http://127.0.0.1/callback'],
    });
  const [client, other] = [await register('Client'), await register('Other')];
  const clients = ['--client', client.id, '--other-client', other.id, '--scope', 'profile.read'];
  const { url } = deployment.gateway;
  const words = ['--issuer', url, ...clients, '--resource', `${url}/v1/account`];
  const given = { client: client.secret, other: other.secret };
  const { exchange, ...verdicts } = await measure('login-latchkey.ts', words, given);
  expect(exchange).toBe('pass');
  const different = Object.entries(verdicts).filter(([, verdict]) => verdict !== 'pass');
  expect(Object.fromEntries(different)).toEqual({
    'race-routes': 'skipped',
    // docs/races.md says why a replay changes nothing.
    replay: 'note',
  });
});

/** Starts a server that says where it listens, and measures it. */
async function measureProgram(words: readonly string[], more: Environment, options: string[]) {
  const env = environment({
    ...{ REDIRECT_URI, SECRET_OF_client: secrets.client, SECRET_OF_other: secrets.other },
    ...more,
  });
  const server = await startProgram(words, { env }, async (printed) => {
    const [url] = /http:\/\/127\.0\.0\.1:\d+(?=[\s/])/.exec(printed) ?? [];
    return url;
  });
  onTestFinished(server.stop);
  const addresses = [
    ...['--authorization-endpoint', `${server.url}/authorize`],
    ...['--token-endpoint', `${server.url}/token`, '--resource', `${server.url}/account`],
    ...options.map((path) => path.replace(/^\//, `${server.url}/`)),
  ];
  const clients = ['--client=client', '--other-client=other'];
  return measure('login-form.ts', [...clients, ...addresses, '--client-auth=basic']);
}

await describeWith('python3', () => {
  test('Authlib, in Python', async () => {
    const requirements = join(programs, 'python', 'requirements.txt');
    const python = await installFromRequirements(requirements, 'oauth-clients', process.env);
    const words = ['-m', 'flask', '--app', join(folder, 'authlib_server.py'), 'run', '--port=0'];
    const verdicts = await measureProgram(
      [join(python, 'python'), ...words],
      { AUTHLIB_INSECURE_TRANSPORT: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
      ['--revocation-endpoint', '/revoke'],
    );
    expect(verdicts).toMatchObject({ exchange: 'pass', 'revoked-resource': expect.any(String) });
    expect(Object.keys(verdicts)).toHaveLength(17);
  });
});

await describeWith('go', () => {
  test('go-oauth2, in Go', async () => {
    const output = join(await cacheFolder(process.env), 'oauth-race-go');
    await mkdir(output, { recursive: true });
    const program = join(output, 'server');
    const build = ['build', '-mod=readonly', '-o', program, '.'];
    const env = withoutSettings(process.env) as Environment;
    await succeed('go', ['-C', join(folder, 'go'), ...build], { cwd: folder, env });
    const verdicts = await measureProgram([program], {}, []);
    expect(verdicts).toMatchObject({ exchange: 'pass', 'revoked-resource': 'skipped' });
    expect(Object.keys(verdicts)).toHaveLength(17);
  });
});
