import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../../packages/test-kit/src/free-port.ts';

/** A registry on this machine: it takes packages of ours, and has all others from another registry. */
export interface LocalRegistry {
  url: string;
  /** An environment in which npm reaches this registry and nothing else. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

/**
 * Starts Verdaccio with an empty store.
 *
 * @param packages - the folder in which it is installed
 * @param folder - where it keeps its files
 * @param upstream - the registry that has the packages of others
 */
export async function startRegistry(
  packages: string,
  folder: string,
  upstream: string,
): Promise<LocalRegistry> {
  await mkdir(folder, { recursive: true });
  const url = `http://127.0.0.1:${await freePort()}/`;
  const config = join(folder, 'config.yaml');
  await writeFile(
    config,
    JSON.stringify({
      storage: join(folder, 'storage'),
      uplinks: {
        upstream: { url: upstream, timeout: '60s', max_fails: 1_000, fail_timeout: '1s' },
      },
      packages: {
        '@latchkey/*': { access: '$all', publish: '$all' },
        'oauth-race': { access: '$all', publish: '$all' },
        '**': { access: '$all', proxy: 'upstream' },
      },
      auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: -1 } },
      web: { enable: false },
      log: { type: 'stdout', format: 'pretty', level: 'error' },
    }),
  );
  const script = join(packages, 'verdaccio/bin/verdaccio');
  const child = spawn(process.execPath, [script, '--config', config, '--listen', url], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  for (let tries = 0; !(await answers(url)); tries++) {
    if (child.exitCode !== null || tries === 600) {
      await stop();
      throw new Error(`Verdaccio did not start.\n${output}`);
    }
    await setTimeout(100);
  }
  return { url, env: await environmentFor(url, folder), stop };
}

const answers = (url: string) =>
  fetch(new URL('-/ping', url)).then(
    ({ ok }) => ok,
    () => false,
  );

async function environmentFor(url: string, folder: string): Promise<NodeJS.ProcessEnv> {
  const settings = join(folder, 'npmrc');
  // npm wants a token before it publishes; Verdaccio takes any. Nobody listens on port 9: a command
  // that would go to another registry fails.
  await writeFile(
    settings,
    `registry=${url}
@latchkey:registry=${url}
//${new URL(url).host}/:_authToken=rehearsal
proxy=http://127.0.0.1:9
https-proxy=http://127.0.0.1:9
noproxy=127.0.0.1
`,
  );
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env)) {
    // `npm run` hands its settings on to its children, where they win over the file.
    if (!/^npm_|_proxy$/i.test(name)) env[name] = value;
  }
  return {
    ...env,
    npm_config_registry: url,
    npm_config_userconfig: settings,
    npm_config_globalconfig: join(folder, 'no-npmrc'),
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
}
