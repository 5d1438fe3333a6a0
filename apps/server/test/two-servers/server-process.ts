import type { CommandProcess } from '../http/command-process.ts';
import { launchServer, listening } from '../http/served-process.ts';

/** A server in a process of its own, which can be killed, and stopped in its tracks. */
export class ServerProcess {
  readonly #launch: () => CommandProcess;
  #command: CommandProcess;
  #earlierLog = '';
  /** Where it listens; another port after each {@link restart}. */
  url = '';

  private constructor(launch: () => CommandProcess) {
    this.#launch = launch;
    this.#command = launch();
  }

  /**
   * Starts the service on the database of that URL.
   *
   * @param options.script - a program of a test that serves in its place
   * @param options.environment - more settings
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

  /** Ends it as a power cut would. Its database has to live on, or be a file. */
  async kill(): Promise<void> {
    this.#command.kill('SIGKILL');
    await this.#command.ended;
  }

  /** Starts it again, after {@link kill} or {@link stop}. */
  async restart(): Promise<void> {
    this.#earlierLog += this.#command.run.stderr;
    this.#command = this.#launch();
    this.url = await listening(this.#command);
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
