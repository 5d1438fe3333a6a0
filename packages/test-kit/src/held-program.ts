import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { lastLines, reasonOf } from './error-text.ts';
import { freePort } from './free-port.ts';

const script = fileURLToPath(new URL('./held-program.sh', import.meta.url));

/** What the script writes about a run. */
const FILES = ['ended', 'pid'];

const START_MS = 60_000;
const PORT_TRIES = 3;

export type ProgramState = 'running' | 'killed' | 'paused';

/** How a server is run. */
interface Launch {
  command: readonly string[];
  /** Rejects until the server responds. */
  answers(): Promise<unknown>;
}

/** Where a server keeps its data and listens. */
export interface Place {
  data: string;
  port: number;
}

/** A server with a folder of its own. Both are gone when the process that started it ends in any way. */
export class HeldProgram implements Place {
  readonly data: string;
  readonly port: number;
  readonly #folder: string;
  #shell: ChildProcess | undefined;
  #launch: Launch | undefined;
  #state: ProgramState = 'killed';

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.data = join(folder, 'data');
    this.port = port;
  }

  /**
   * @param name - of the database, for the folder
   * @param prepare - may be called again, for another place
   * @throws Error with the end of its log, if it ends or does not respond
   */
  static async start(
    name: string,
    prepare: (place: Place) => Launch | Promise<Launch>,
  ): Promise<HeldProgram> {
    for (let tries = 1; ; tries++) {
      const folder = await mkdtemp(join(tmpdir(), `latchkey-${name}-`));
      const program = new HeldProgram(folder, await freePort());
      try {
        await mkdir(program.data, { mode: 0o700 });
        program.#launch = await prepare(program);
        await program.restart();
        return program;
      } catch (error) {
        await program.stop();
        // Another process can take a free port before the server listens on it.
        const isTaken = /address (already )?in use/i.test(reasonOf(error));
        if (tries === PORT_TRIES || !isTaken) throw error;
      }
    }
  }

  get state(): ProgramState {
    return this.#state;
  }

  /** Starts it again with the same data, after {@link kill}. */
  async restart(): Promise<void> {
    await this.kill();
    const launch = this.#launch as Launch;
    await Promise.all(FILES.map((file) => rm(join(this.#folder, file), { force: true })));
    // A shell kills it at the end of its standard input: the kernel closes that pipe even if this process ends
    // by SIGKILL.
    const shell = spawn('sh', [script, this.#folder, ...launch.command], {
      cwd: this.#folder,
      // Ctrl-C in a terminal goes to the whole process group; the shell ends with this process.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // Writing to a shell that has just ended is no error: `#ended` looks at the process.
    shell.stdin.on('error', () => undefined);
    // A test run that forgets to stop its servers must still be able to end.
    shell.unref();
    (shell.stdin as { unref?: () => void }).unref?.();
    this.#shell = shell;
    await this.#answering(launch);
    this.#state = 'running';
  }

  /** Ends it with SIGKILL. Its data stays, for {@link restart}. */
  async kill(): Promise<void> {
    this.#state = 'killed';
    this.#shell?.stdin?.write('kill\n');
    await this.#ended();
  }

  /** Pauses it until {@link resume}: it keeps its connections, but neither reads nor responds. */
  async pause(): Promise<void> {
    this.#state = 'paused';
    await this.#signal('STOP');
  }

  async resume(): Promise<void> {
    await this.#signal('CONT');
    this.#state = 'running';
  }

  /** Ends it for good, and deletes its folder. */
  async stop(): Promise<void> {
    this.#state = 'killed';
    this.#shell?.stdin?.end();
    await this.#ended();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /** To it and to its children. */
  async #signal(name: 'STOP' | 'CONT'): Promise<void> {
    const pid = (await readFile(join(this.#folder, 'pid'), 'utf8')).trim();
    process.kill(Number(pid), `SIG${name}`);
    // Fails if it has none.
    await promisify(execFile)('pkill', [`-${name}`, '-P', pid]).catch(() => undefined);
  }

  async #ended(): Promise<void> {
    const shell = this.#shell;
    if (shell === undefined || shell.exitCode !== null || shell.signalCode !== null) return;
    shell.ref();
    await once(shell, 'exit');
  }

  async #answering({ command, answers }: Launch): Promise<void> {
    const deadline = Date.now() + START_MS;
    for (;;) {
      try {
        await answers();
        return;
      } catch (error) {
        const hasEnded = existsSync(join(this.#folder, 'ended'));
        if (hasEnded || Date.now() > deadline) {
          const log = await readFile(join(this.#folder, 'log'), 'utf8').catch(() => '');
          const what = hasEnded
            ? 'ended at its start'
            : `did not answer within ${START_MS / 1_000} s (${reasonOf(error)})`;
          throw new Error(`${command.join(' ')} ${what}\n${lastLines(log, 12)}`);
        }
        await sleep(50);
      }
    }
  }
}

/** What tests do to a server that is one. */
export class HeldServer {
  protected readonly program: HeldProgram;

  protected constructor(program: HeldProgram) {
    this.program = program;
  }

  get state(): ProgramState {
    return this.program.state;
  }

  /** Ends it, with all its processes, by SIGKILL. Its data stays, for {@link restart}. */
  kill(): Promise<void> {
    return this.program.kill();
  }

  /** Starts it again on the same port with the same data, after {@link kill}. */
  restart(): Promise<void> {
    return this.program.restart();
  }

  /** Pauses it until {@link resume}: it keeps its connections, but neither reads nor responds. */
  pause(): Promise<void> {
    return this.program.pause();
  }

  resume(): Promise<void> {
    return this.program.resume();
  }

  /** Ends it for good, and deletes its data. */
  stop(): Promise<void> {
    return this.program.stop();
  }
}
