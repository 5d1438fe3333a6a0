import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PORT_OF_PAGES, startLinkingProgram } from './linking-program.ts';
import type { RunningProgram } from './program.ts';
import {
  type Ended,
  type Environment,
  environment,
  latchkey,
  pairIn,
  run,
  type ServiceProcess,
  script,
  startService,
} from './service.ts';

/** The address of the service in the README. */
const ADDRESS = 'http://127.0.0.1:3000';
/** The address of PostgreSQL on a page. */
const POSTGRESQL = /postgresql:\/\/[^'\s]*/;

// Replaces `npm` and `bin/latchkey` in a block. The scripts of the root install and build, which is already
// done when these tests run; then they pack packages, as this does. `npm start` is only recorded, and the
// reader starts the service with the recorded environment. In the reader's own project, the real npm runs.
const SHELL = `set -euo pipefail
environment() { node -p 'JSON.stringify(process.env)'; }
npm() {
  case "$*" in
    start) environment > "$READER_STARTS" ;;
    test) ;;
    'run -s pack') node "$READER_PACK" "$READER_REPOSITORY" ;;
    'run -s pack -- '*) shift 4; node "$READER_PACK" "$@" "$READER_REPOSITORY" ;;
    'init '* | 'pkg '* | 'install '*) command npm "$@" > npm.log 2>&1 ;;
    *) echo "This npm has no: $*" >&2; return 1 ;;
  esac
}
bin/latchkey() { (cd "$READER_REPOSITORY"; node "$READER_SCRIPT" "$@"); }
`;

const examples = fileURLToPath(new URL('../../examples', import.meta.url));
const packScript = fileURLToPath(new URL('../../scripts/pack.mjs', import.meta.url));

const EPILOGUE = '\nenvironment > "$READER_ENVIRONMENT"\n';

/** The placeholders that a reader replaces with a value from an earlier output. */
type Noted =
  | 'lk_app_…'
  | 'lk_code_…'
  | 'lk_grant_…'
  | 'GRANT_ID'
  | 'APPLICATION_ID'
  | 'ACCOUNT_ID'
  | 'SECRET_ID'
  | 'REQUEST_ID'
  | 'KEY_ID'
  | 'ENDPOINT_ID'
  | 'whsec_…'
  | 'the secret of a new application'
  | 'an issued code';

/** The variables that npm needs behind a proxy. */
const NETWORK = ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy'];
const network = NETWORK.flatMap((name) => {
  const value = process.env[name];
  return value === undefined ? [] : [[name, value]];
});

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const notes: [Noted, RegExp][] = [
  ['lk_grant_…', /"grant_secret":"(\w+)"/],
  ['GRANT_ID', new RegExp(`"grant_id":"(${UUID})"`)],
  ['APPLICATION_ID', new RegExp(`"object":"application","id":"(${UUID})"`)],
  ['APPLICATION_ID', new RegExp(`^id +(${UUID})\n(?:.*\n)?name +Acme$`, 'm')],
  // The oldest secret of an application.
  ['SECRET_ID', new RegExp(`^secrets +id (${UUID}),`, 'm')],
  // The newest refusal of a list.
  ['REQUEST_ID', new RegExp(`^20\\S+\t(${UUID})\t`, 'm')],
  // The oldest key of a list.
  ['KEY_ID', new RegExp(`(${UUID})\\t.*\\tlk_key_….*\\n$`)],
  ['ENDPOINT_ID', new RegExp(`^id +(${UUID})\napplication .*\nurl `, 'im')],
  ['whsec_…', /^(whsec_\S{44})$/m],
  ['the secret of a new application', /^(lk_app_\w{71})$/m],
  ['the secret of a new application', /"secret":"(lk_app_\w{71})"/],
  ['an issued code', /^(lk_code_\w{71})$/m],
  ['an issued code', /"object":"grant_code","code":"(\w{71,})"/],
  ['ACCOUNT_ID', new RegExp(`"object":"service_account","id":"(${UUID})"`)],
  ['ACCOUNT_ID', new RegExp(`^id +(${UUID})\nusername `, 'm')],
];

/**
 * A reader of the README who pastes its blocks into one shell, in order. What a block exports is set
 * for the next ones. Only what a reader must replace is replaced: the placeholders above, and the
 * addresses of the service and of PostgreSQL, which have other ports in a test.
 */
export class Reader {
  readonly #folder: string;
  /** Contains the repository and the reader's own projects. */
  readonly #repository: string;
  readonly #databaseUrl: string | undefined;
  #env: Environment;
  /** The working directory of the shell. */
  #cwd: string;
  #noted = new Map<Noted, string>();
  #service: ServiceProcess | undefined;
  readonly #programs: RunningProgram[] = [];

  /** @param databaseUrl - the PostgreSQL to use in place of the page's */
  static async create(databaseUrl: string | undefined): Promise<Reader> {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-readme-'));
    await mkdir(join(folder, 'latchkey'));
    await symlink(examples, join(folder, 'latchkey/examples'));
    return new Reader(folder, databaseUrl);
  }

  private constructor(folder: string, databaseUrl: string | undefined) {
    this.#folder = folder;
    this.#repository = join(folder, 'latchkey');
    this.#cwd = this.#repository;
    this.#databaseUrl = databaseUrl;
    this.#env = environment({
      ...Object.fromEntries(network),
      PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
      READER_SCRIPT: script,
      READER_PACK: packScript,
      READER_REPOSITORY: this.#repository,
      READER_STARTS: join(folder, 'starts'),
      READER_ENVIRONMENT: join(folder, 'environment'),
    });
  }

  /** The service that was started most recently. */
  get service(): ServiceProcess {
    if (this.#service === undefined) throw new Error('The README has not started a service yet.');
    return this.#service;
  }

  /** Pastes a block into the shell. Starts the service if the block does. */
  async shell(code: string): Promise<Ended> {
    const text = await this.#replace(code);
    const options = { ...this.#options(), cwd: this.#cwd };
    const ended = await run('bash', ['-c', SHELL + text + EPILOGUE], options);
    if (ended.exitCode === 0) {
      this.#env = await readEnvironment(join(this.#folder, 'environment'));
      this.#cwd = this.#env.PWD ?? this.#cwd;
      this.#note(ended.stdout);
      await this.#startIfAsked();
    }
    return ended;
  }

  /** Runs the program in a block. */
  async program(words: readonly string[], code: string, cwd = this.#cwd): Promise<Ended> {
    const [program = '', ...more] = words;
    return run(program, [...more, await this.#replace(code)], { ...this.#options(), cwd });
  }

  /** Saves a block as a file in the working directory of the shell. */
  async save(name: string, code: string): Promise<void> {
    await writeFile(join(this.#cwd, name), await this.#replace(code));
  }

  /**
   * Starts a program that listens on {@link PORT_OF_PAGES} in the block, and waits until it does. It
   * runs until {@link Reader.close}, also if a test fails before: the next page has the same port.
   *
   * @param port - the port to use in its place
   */
  async start(code: string, port: string): Promise<RunningProgram> {
    const text = (await this.#replace(code)).replaceAll(PORT_OF_PAGES, port);
    const options = { cwd: this.#cwd, env: { ...this.#env, PORT: port } };
    const program = await startLinkingProgram(['bash', '-c', text], port, options);
    this.#programs.push(program);
    return program;
  }

  /** The most recent value of a placeholder. */
  noted(word: Noted): string {
    const value = this.#noted.get(word);
    if (value === undefined) throw new Error(`No block so far has printed ${word}.`);
    return value;
  }

  /** As {@link Reader.noted}, but once: undefined until a block prints a new value. */
  take(word: Noted): string | undefined {
    const value = this.#noted.get(word);
    this.#noted.delete(word);
    return value;
  }

  async close(): Promise<void> {
    for (const program of this.#programs) await program.stop();
    await this.#service?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #options() {
    return { cwd: this.#repository, env: this.#env };
  }

  async #replace(code: string): Promise<string> {
    let text = code.replaceAll(ADDRESS, () => this.service.url);
    if (this.#databaseUrl !== undefined) text = text.replace(POSTGRESQL, this.#databaseUrl);
    const created = this.#noted.get('the secret of a new application');
    if (created !== undefined && !text.includes('lk_code_…')) {
      text = text.replaceAll('lk_app_…', created);
    } else if (/lk_(?:app|code)_…/.test(text)) {
      const demo = await latchkey(['demo'], this.#options());
      const { applicationSecret, code } = pairIn(demo.stdout);
      this.#noted.set('lk_app_…', applicationSecret).set('lk_code_…', code);
    }
    return text.replace(
      /(?:lk_(?:app|code|grant)|whsec)_…|\b(?:GRANT|APPLICATION|ACCOUNT|SECRET|REQUEST|KEY|ENDPOINT)_ID\b/g,
      (word) => this.noted(word as Noted),
    );
  }

  #note(output: string): void {
    for (const [name, pattern] of notes) {
      const value = pattern.exec(output)?.[1];
      if (value !== undefined) this.#noted.set(name, value);
    }
  }

  async #startIfAsked(): Promise<void> {
    const file = join(this.#folder, 'starts');
    const env = await readEnvironment(file).catch(() => null);
    if (env === null) return;
    await rm(file);
    await this.#service?.stop();
    // Where its settings name an address, that is the one of the service that has just stopped.
    const PORT = env.PUBLIC_URL ? new URL(env.PUBLIC_URL).port : '0';
    this.#service = await startService({ cwd: this.#repository, env: { ...env, PORT } });
  }
}

/** Reads the file that the shell's `environment` wrote. */
async function readEnvironment(file: string): Promise<Environment> {
  return JSON.parse(await readFile(file, 'utf8')) as Environment;
}
