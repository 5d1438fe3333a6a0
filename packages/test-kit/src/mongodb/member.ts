import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Document } from 'mongodb';
import { lastLines, reasonOf } from '../error-text.ts';
import { freePort } from '../free-port.ts';
import type { Host } from '../network/network.ts';
import { commandOf } from './command-of.ts';

const runScript = fileURLToPath(new URL('./mongod-run.sh', import.meta.url));

const startMs = 60_000;
const portTries = 3;

/** Small enough for several members on one machine, and enough for what a test writes. */
const sizes = ['--wiredTigerCacheSizeGB', '0.25', '--oplogSize', '64'];
/**
 * Milliseconds between writes to the journal. With MongoDB's own 100, a linearizable read on a set of
 * one takes 100 ms, and the store suite ten times as long.
 */
const journal = ['--journalCommitInterval', '2'];
const parameters = ['enableTestCommands=1', 'diagnosticDataCollectionEnabled=false'];

/** More options of a `mongod`, for tests of TLS and of users. */
export interface MongodOptions {
  arguments?: readonly string[];
  /** Options of the URL with which the test kit itself connects. */
  query?: Readonly<Record<string, string>>;
}

const loopback: Host = { address: '127.0.0.1', within: [] };

export type MemberState = 'running' | 'killed' | 'paused';

/** A `mongod` with a port and a folder of its own. The folder is deleted when the member stops. */
export class Member {
  /** Where it runs. */
  readonly host: Host;
  readonly #mongod: string;
  readonly #replicaSet: string;
  readonly #folder: string;
  readonly #port: number;
  readonly #options: MongodOptions;
  #shell: ChildProcess;
  #state: MemberState = 'running';

  private constructor(
    mongod: string,
    replicaSet: string,
    folder: string,
    port: number,
    options: MongodOptions,
    host: Host,
  ) {
    this.#mongod = mongod;
    this.#replicaSet = replicaSet;
    this.#folder = folder;
    this.#port = port;
    this.#options = options;
    this.host = host;
    this.#shell = this.#launch();
  }

  static async start(
    mongod: string,
    replicaSet: string,
    options: MongodOptions = {},
    host = loopback,
  ): Promise<Member> {
    for (let tries = 1; ; tries++) {
      const folder = await mkdtemp(join(tmpdir(), 'latchkey-mongodb-'));
      const member = new Member(mongod, replicaSet, folder, await freePort(), options, host);
      try {
        await member.#answering();
        return member;
      } catch (error) {
        await member.stop();
        // Another process can take a free port before the member listens on it.
        if (tries === portTries || !/address (already )?in use/i.test(reasonOf(error))) throw error;
      }
    }
  }

  get address(): string {
    return `${this.host.address}:${this.#port}`;
  }

  get state(): MemberState {
    return this.#state;
  }

  /** Runs a command on the `admin` database of this member, whether it is the primary or not. */
  command(command: Document): Promise<Document> {
    const query = new URLSearchParams({ ...this.#options.query, directConnection: 'true' });
    return commandOf(`mongodb://${this.address}/?${query}`, command);
  }

  /** Ends it with SIGKILL. Its data stays, for {@link restart}. */
  async kill(): Promise<void> {
    this.#state = 'killed';
    this.#shell.stdin?.write('kill\n');
    await this.#ended();
  }

  /** Starts it again on the same port with the same data, after {@link kill}. */
  async restart(): Promise<void> {
    if (this.#state !== 'killed') await this.kill();
    this.#shell = this.#launch();
    await this.#answering();
    this.#state = 'running';
  }

  /** Pauses it until {@link resume}: it keeps its connections, but neither reads nor responds. */
  async pause(): Promise<void> {
    this.#state = 'paused';
    process.kill(await this.#pid(), 'SIGSTOP');
  }

  async resume(): Promise<void> {
    process.kill(await this.#pid(), 'SIGCONT');
    this.#state = 'running';
  }

  /** Ends it for good, and deletes its data. */
  async stop(): Promise<void> {
    this.#state = 'killed';
    this.#shell.stdin?.end();
    await this.#ended();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }

  /**
   * A shell holds the `mongod`, and kills it at the end of its standard input: the kernel closes
   * that pipe even if this process ends by SIGKILL.
   */
  #launch(): ChildProcess {
    const shell = spawn(
      'sh',
      [
        ...[runScript, this.#folder, ...this.host.within, this.#mongod],
        ...['--dbpath', join(this.#folder, 'data'), '--replSet', this.#replicaSet],
        ...['--bind_ip', this.host.address, '--port', `${this.#port}`],
        ...['--nounixsocket', ...sizes, ...journal],
        ...parameters.flatMap((parameter) => ['--setParameter', parameter]),
        ...(this.#options.arguments ?? []),
      ],
      // Ctrl-C in a terminal goes to the whole process group; the shell ends with this process.
      { detached: true, stdio: ['pipe', 'ignore', 'ignore'] },
    );
    // Writing to a shell that has just ended is no error: `#ended` looks at the process.
    shell.stdin.on('error', () => undefined);
    // A test run that forgets to stop its servers must still be able to end.
    shell.unref();
    (shell.stdin as { unref?: () => void }).unref?.();
    return shell;
  }

  async #ended(): Promise<void> {
    const { exitCode, signalCode } = this.#shell;
    if (exitCode !== null || signalCode !== null) return;
    this.#shell.ref();
    await once(this.#shell, 'exit');
  }

  /** Waits until it responds; throws the end of its log if it does not. */
  async #answering(): Promise<void> {
    const deadline = Date.now() + startMs;
    for (;;) {
      try {
        await this.command({ ping: 1 });
        return;
      } catch (error) {
        const hasEnded = existsSync(join(this.#folder, 'ended'));
        if (hasEnded || Date.now() > deadline) {
          const log = await readFile(join(this.#folder, 'mongod.log'), 'utf8').catch(() => '');
          const what = hasEnded
            ? 'ended at its start'
            : `did not answer within ${startMs / 1_000} s (${reasonOf(error)})`;
          throw new Error(`${this.#mongod} ${what}\n${lastLines(log, 12)}`);
        }
        await sleep(50);
      }
    }
  }

  async #pid(): Promise<number> {
    return Number(await readFile(join(this.#folder, 'mongod.pid'), 'utf8'));
  }
}
