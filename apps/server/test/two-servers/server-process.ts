import type { CommandProcess } from '../http/command-process.ts';
import { launchServer, listening } from '../http/served-process.ts';

/** A server in its own process, which can be killed and suspended. */
export class ServerProcess {
  readonly #launch: () => CommandProcess;
  #command: CommandProcess;
  #earlierLog = '';
  /** The URL of the server. Each {@link restart} changes the port. */
  url = '';

  private constructor(launch: () => CommandProcess) {
    this.#launch = launch;
    this.#command = launch();
  }

  /**
   * Starts the service on a database.
   *
   * @param options.script - a program of a test to run in place of the service
   * @param options.environment - additional settings
   */
  static async start(
    databaseUrl: string,
    { script, environment }: { script?: string; environment?: NodeJS.ProcessEnv } = {},
  ): Promise<ServerProcess> {
    const settings = { LOG_LEVEL: 'warn', ...environment };
    const server = new ServerProcess(() =>
      launchServer(databaseUrl, { script, environment: settings }),
    );
    server.url = await listening(server.#command);
    return server;
  }

  /** Ends it as a power failure would. Its database must be a file or another process. */
  async kill(): Promise<void> {
    this.#command.kill('SIGKILL');
    await this.#command.ended;
  }

  /** Starts it again after {@link kill} or {@link stop}. */
  async restart(): Promise<void> {
    this.#earlierLog += this.#command.run.stderr;
    this.#command = this.#launch();
    this.url = await listening(this.#command);
  }

  /** Suspends it: it keeps its connections and its locks. */
  pause(): void {
    this.#command.kill('SIGSTOP');
  }

  resume(): void {
    this.#command.kill('SIGCONT');
  }

  /** Lets it complete its requests and exit. */
  async stop(): Promise<void> {
    this.#command.kill('SIGTERM');
    await this.#command.ended;
  }

  /** The warnings and errors so far. A service logs no credential. */
  get log(): string {
    return this.#earlierLog + this.#command.run.stderr;
  }
}
