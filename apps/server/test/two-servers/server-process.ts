import { type CommandProcess, startCommand } from '../http/command-process.ts';
import { ADMIN_SECRET } from '../http/running-server.ts';

const LISTENS = /^Latchkey listens on (http:\/\/127\.0\.0\.1:\d+)/m;

/** A server in a process of its own, which can be killed, and stopped in its tracks. */
export class ServerProcess {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #script: string | undefined;
  #command: CommandProcess;
  #earlierLog = '';
  /** Where it listens; another port after each {@link restart}. */
  url: string;

  private constructor(
    environment: NodeJS.ProcessEnv,
    script: string | undefined,
    [command, url]: [CommandProcess, string],
  ) {
    this.#environment = environment;
    this.#script = script;
    this.#command = command;
    this.url = url;
  }

  /**
   * Starts the service on the database of that URL, with the operator's secret of the tests.
   *
   * @param options.script - a program of a test that serves in its place
   * @param options.environment - more settings
   */
  static async start(
    databaseUrl: string,
    { script, environment = {} }: { script?: string; environment?: NodeJS.ProcessEnv } = {},
  ): Promise<ServerProcess> {
    const all = {
      PORT: '0',
      DATABASE_URL: databaseUrl,
      ADMIN_SECRET,
      RATE_LIMIT: 'off',
      LOG_LEVEL: 'warn',
      ...environment,
    };
    return new ServerProcess(all, script, await launch(all, script));
  }

  /** Ends it as a power cut would. Its database has to live on, or be a file. */
  async kill(): Promise<void> {
    this.#command.kill('SIGKILL');
    await this.#command.ended;
  }

  /** Starts it again, after {@link kill} or {@link stop}. */
  async restart(): Promise<void> {
    this.#earlierLog += this.#command.run.stderr;
    [this.#command, this.url] = await launch(this.#environment, this.#script);
  }

  /** It keeps its connections and its locks, and does nothing. */
  pause(): void {
    this.#command.kill('SIGSTOP');
  }

  resume(): void {
    this.#command.kill('SIGCONT');
  }

  /** Lets it finish what is under way, and end. */
  async stop(): Promise<void> {
    this.#command.kill('SIGTERM');
    await this.#command.ended;
  }

  /** What it had to complain about so far. A service logs no credential. */
  get log(): string {
    return this.#earlierLog + this.#command.run.stderr;
  }
}

async function launch(
  environment: NodeJS.ProcessEnv,
  script: string | undefined,
): Promise<[CommandProcess, string]> {
  const command = startCommand(script ? [] : ['serve'], environment, { script });
  const [, url = ''] = await command.printed(LISTENS);
  return [command, url];
}
