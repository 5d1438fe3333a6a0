import { type CommandProcess, type ProcessOptions, startCommand } from './command-process.ts';
import { ADMIN_SECRET } from './running-server.ts';

export interface ServerOptions extends ProcessOptions {
  /** Settings beyond those of every test. Default: none. */
  environment?: NodeJS.ProcessEnv | undefined;
}

/**
 * Starts the service in its own process, as an operator does: on a free port, with the ADMIN_SECRET of
 * the tests. Rate limits are off, so that the tests reach the service itself.
 *
 * @param options.script - a program of a test to run in place of the service
 */
export function launchServer(
  databaseUrl: string,
  { environment = {}, ...options }: ServerOptions = {},
): CommandProcess {
  const settings = {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    ADMIN_SECRET,
    RATE_LIMIT: 'off',
    ...environment,
  };
  return startCommand(options.script === undefined ? ['serve'] : [], settings, options);
}

/** Resolves to the URL of the service once it listens. */
export async function listening(server: CommandProcess): Promise<string> {
  const [, url = ''] = await server.printed(/^Latchkey listens on (http:\/\/[\d.:]+)/m);
  return url;
}

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

/** The service in its own process, which can be killed, suspended and started again. */
export class ServerProcess {
  readonly #launch: (more?: NodeJS.ProcessEnv) => CommandProcess;
  /** What runs now. */
  command: CommandProcess;
  #earlierLog = '';
  /** The URL of the server. Each {@link restart} changes the port. */
  url = '';

  /** Launches the service. {@link listening} waits for it. */
  constructor(databaseUrl: string, { environment, ...options }: ServerOptions = {}) {
    this.#launch = (more) =>
      launchServer(databaseUrl, { ...options, environment: { ...environment, ...more } });
    this.command = this.#launch();
  }

  static start(databaseUrl: string, options?: ServerOptions): Promise<ServerProcess> {
    return new ServerProcess(databaseUrl, options).listening();
  }

  async listening(): Promise<this> {
    this.url = await listening(this.command);
    return this;
  }

  get pid(): number {
    return this.command.pid;
  }

  /** Ends it as a power failure would. Its database must be a file or another process. */
  async kill(): Promise<void> {
    this.command.kill('SIGKILL');
    await this.command.ended;
  }

  /** Lets it complete its requests and exit. Resolves to its exit code. */
  async stop(): Promise<number | null> {
    this.command.kill('SIGTERM');
    return (await this.command.ended).code;
  }

  /**
   * Starts it again after {@link kill} or {@link stop}.
   *
   * @param more - additional settings
   */
  async restart(more?: NodeJS.ProcessEnv): Promise<void> {
    this.#earlierLog += this.command.run.stderr;
    this.command = this.#launch(more);
    await this.listening();
  }

  /** Suspends it: it keeps its connections and its locks. */
  pause(): void {
    this.command.kill('SIGSTOP');
  }

  resume(): void {
    this.command.kill('SIGCONT');
  }

  /** The log so far. It has no credential. */
  get log(): string {
    return this.#earlierLog + this.command.run.stderr;
  }

  /** The complete lines of the log. */
  get lines(): LogLine[] {
    return this.log
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }
}
