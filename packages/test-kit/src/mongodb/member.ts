import type { Document } from 'mongodb';
import { HeldProgram, type ProgramState } from '../held-program.ts';
import type { Host } from '../network/network.ts';
import { commandOf } from './command-of.ts';

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

/** A `mongod` with a port and a folder of its own. The folder is deleted when the member stops. */
export class Member {
  /** Where it runs. */
  readonly host: Host;
  readonly #program: HeldProgram;
  readonly #query: MongodOptions['query'];

  private constructor(program: HeldProgram, host: Host, query: MongodOptions['query']) {
    this.#program = program;
    this.host = host;
    this.#query = query;
  }

  static async start(
    mongod: string,
    replicaSet: string,
    options: MongodOptions = {},
    host = loopback,
  ): Promise<Member> {
    const program = await HeldProgram.start('mongodb', ({ data, port }) => ({
      command: [
        ...[...host.within, mongod, '--dbpath', data, '--replSet', replicaSet],
        ...['--bind_ip', host.address, '--port', `${port}`],
        ...['--nounixsocket', ...sizes, ...journal],
        ...parameters.flatMap((parameter) => ['--setParameter', parameter]),
        ...(options.arguments ?? []),
      ],
      answers: () => commandOn(`${host.address}:${port}`, options.query, { ping: 1 }),
    }));
    return new Member(program, host, options.query);
  }

  get address(): string {
    return `${this.host.address}:${this.#program.port}`;
  }

  get state(): ProgramState {
    return this.#program.state;
  }

  /** Runs a command on the `admin` database of this member, whether it is the primary or not. */
  command(command: Document): Promise<Document> {
    return commandOn(this.address, this.#query, command);
  }

  /** Ends it with SIGKILL. Its data stays, for {@link restart}. */
  kill(): Promise<void> {
    return this.#program.kill();
  }

  /** Starts it again on the same port with the same data, after {@link kill}. */
  restart(): Promise<void> {
    return this.#program.restart();
  }

  /** Pauses it until {@link resume}: it keeps its connections, but neither reads nor responds. */
  pause(): Promise<void> {
    return this.#program.pause();
  }

  resume(): Promise<void> {
    return this.#program.resume();
  }

  /** Ends it for good, and deletes its data. */
  stop(): Promise<void> {
    return this.#program.stop();
  }
}

function commandOn(
  address: string,
  query: MongodOptions['query'],
  command: Document,
): Promise<Document> {
  const options = new URLSearchParams({ ...query, directConnection: 'true' });
  return commandOf(`mongodb://${address}/?${options}`, command);
}
