import type { Document } from 'mongodb';
import { HeldProgram, HeldServer } from '../held-program.ts';
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
export class Member extends HeldServer {
  /** Where it runs. */
  readonly host: Host;
  readonly #query: MongodOptions['query'];

  private constructor(program: HeldProgram, host: Host, query: MongodOptions['query']) {
    super(program);
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
    return `${this.host.address}:${this.program.port}`;
  }

  /** Runs a command on the `admin` database of this member, whether it is the primary or not. */
  command(command: Document): Promise<Document> {
    return commandOn(this.address, this.#query, command);
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
