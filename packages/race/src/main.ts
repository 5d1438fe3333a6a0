import { parseArgs } from 'node:util';
import { checkFile, outputsOf, writeFiles } from './files.ts';
import { commandLogin } from './login/command.ts';
import type { Login } from './login/login.ts';
import { loadLogin } from './login/module.ts';
import { type PageLogin, startPageLogin } from './login/page.ts';
import { type Progress, progressOn } from './progress.ts';
import { tableOf } from './report/table.ts';
import { DEFAULT_REDIRECT_URI, type Report, type RunOptions, run, version } from './run.ts';
import { USAGE } from './usage.ts';
import { WrongOption } from './wrong-option.ts';

const one = { type: 'string' } as const;
const several = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;

function read(args: string[]) {
  const options = {
    issuer: one,
    'authorization-endpoint': one,
    'token-endpoint': several,
    'introspection-endpoint': one,
    'revocation-endpoint': one,
    resource: one,
    client: one,
    'other-client': one,
    'client-auth': one,
    'redirect-uri': one,
    scope: one,
    login: one,
    'login-command': one,
    'login-page': flag,
    host: several,
    row: several,
    codes: one,
    requests: one,
    pause: one,
    timeout: one,
    seed: one,
    markdown: one,
    json: one,
    junit: one,
    help: flag,
    version: flag,
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new WrongOption((error as Error).message);
  }
}

type Values = ReturnType<typeof read>;

/** Runs the command. Returns its exit code. */
export async function main(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  try {
    return await command(read(args), env);
  } catch (error) {
    if (!(error instanceof WrongOption)) throw error;
    process.stderr.write(`${error.message}\noauth-race --help shows the options.\n`);
    return 2;
  }
}

async function command(values: Values, env: NodeJS.ProcessEnv): Promise<number> {
  if (values.help) return print(USAGE);
  if (values.version) return print(`${version}\n`);
  const outputs = outputsOf(values);
  for (const output of outputs) await checkFile(output);
  const timeout = wholeNumber(values, 'timeout') ?? 10_000;
  const progress = progressOn(process.stderr);
  const way = await wayToCode(values, 6 * timeout, progress);
  try {
    const options = { ...optionsOf(values, env), login: way.login, onProgress: progress.show };
    const report = await run(
      // A person takes longer than a program.
      way.close ? { ...options, loginTimeout: 60 * timeout } : options,
    );
    progress.end();
    process.stdout.write(tableOf(report));
    const areWritten = await writeFiles(outputs, report);
    return exitCodeOf(report, values.row ?? [], areWritten);
  } finally {
    progress.end();
    await way.close?.();
  }
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

function exitCodeOf({ rows }: Report, asked: readonly string[], areWritten: boolean): number {
  if (rows.some(({ verdict }) => verdict === 'fail')) return 1;
  const isMeasured = rows.every(
    ({ verdict, id }) => verdict !== 'error' && !(verdict === 'skipped' && asked.includes(id)),
  );
  return isMeasured && areWritten ? 0 : 2;
}

/** The one way to a code that was chosen. */
async function wayToCode(
  values: Values,
  timeout: number,
  progress: Progress,
): Promise<{ login: Login; close?: PageLogin['close'] }> {
  const ways = [values.login, values['login-command'], values['login-page']];
  if (ways.filter((way) => way !== undefined).length !== 1) {
    throw new WrongOption('Give one of --login, --login-command and --login-page.');
  }
  if (values.login !== undefined) return { login: await loadLogin(values.login) };
  const command = values['login-command'];
  if (command !== undefined) return { login: commandLogin(command, timeout) };
  const page = await startPageLogin(values['redirect-uri'] ?? DEFAULT_REDIRECT_URI);
  let isNamed = false;
  return {
    close: page.close,
    login(...given) {
      // Not before all options have turned out to be right.
      if (!isNamed) {
        progress.end();
        process.stderr.write(`Open ${page.url} in a browser, and log in.\n`);
      }
      isNamed = true;
      return page.login(...given);
    },
  };
}

function optionsOf(values: Values, env: NodeJS.ProcessEnv): Omit<RunOptions, 'login'> {
  const client = clientOf(values.client, env.OAUTH_RACE_SECRET);
  if (client === undefined) throw new WrongOption('Give --client.');
  return {
    issuer: values.issuer,
    authorizationEndpoint: values['authorization-endpoint'],
    tokenEndpoints: values['token-endpoint'],
    introspectionEndpoint: values['introspection-endpoint'],
    revocationEndpoint: values['revocation-endpoint'],
    resource: values.resource,
    client,
    otherClient: clientOf(values['other-client'], env.OAUTH_RACE_OTHER_SECRET),
    clientAuth: clientAuthOf(values['client-auth']),
    redirectUri: values['redirect-uri'],
    scope: values.scope,
    hosts: values.host,
    rows: values.row,
    codes: wholeNumber(values, 'codes'),
    requests: wholeNumber(values, 'requests'),
    pause: wholeNumber(values, 'pause'),
    timeout: wholeNumber(values, 'timeout'),
    seed: wholeNumber(values, 'seed'),
  };
}

const clientOf = (id: string | undefined, secret: string | undefined) =>
  id === undefined ? undefined : { id, ...(secret && { secret }) };

function clientAuthOf(method: string | undefined) {
  if (method === undefined || method === 'basic' || method === 'post' || method === 'none') {
    return method;
  }
  throw new WrongOption('--client-auth is basic, post or none.');
}

function wholeNumber(
  values: Values,
  name: 'codes' | 'requests' | 'pause' | 'timeout' | 'seed',
): number | undefined {
  const text = values[name];
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  throw new WrongOption(`--${name} has to be a whole number.`);
}
