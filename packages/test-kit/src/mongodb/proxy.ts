import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Document } from 'mongodb';
import { commandOf } from './command-of.ts';
import { withOptions } from './test-databases.ts';
import {
  commandIn,
  MessageReader,
  nameOf,
  requestId,
  responseTo,
  withAddresses,
} from './wire-messages.ts';

/** A command that is on its way from the driver to the database, and does not get on by itself. */
export interface HeldCommand {
  command: Document;
  /** Lets it go on its way, as if it had not been held. */
  forward(): void;
  /** Has the database execute it; of its answer, the driver hears nothing. */
  execute(): Promise<void>;
  /** Cuts the driver's connection. The command can still be executed afterwards. */
  cut(): void;
}

/** The URL of a database through a proxy. */
export function urlThrough(
  proxy: MongodbProxy,
  url: string,
  options: Record<string, string> = {},
): string {
  const [, user = '', rest = ''] = /^mongodb(?:\+srv)?:\/\/([^@/]*@)?[^/?]*(.*)$/.exec(url) ?? [];
  return withOptions(`mongodb://${user}${proxy.addresses}${rest}`, options);
}

// Written behind the requests: the fence of a read, and what is kept and counted of earlier requests.
const BEHIND = ['fences', 'refusals', 'hour_counts'];

/** Whether a command is one of those that the promises of a request rest on. */
export function isDurableWrite(command: Document): boolean {
  return (
    ['findAndModify', 'insert', 'update'].includes(nameOf(command)) &&
    command.writeConcern?.w === 'majority' &&
    !BEHIND.includes(command[nameOf(command)])
  );
}

/** For tests that cut one connection at a time: the driver looks for the server at once again. */
export const lookAtOnce = { minHeartbeatFrequencyMS: '10' };

type Matches = (command: Document) => boolean;

/** A member of a replica set, or the only server, and where the proxy listens in its place. */
interface Door {
  readonly target: string;
  port: number;
  server: Server | undefined;
}

/**
 * Stands between a driver and MongoDB, passes on what they say, and fails as a network does: before a
 * command has arrived, after, or long after. It knows the commands by their content, so that a test
 * can choose the very write that gets lost.
 *
 * It stands before every member of a replica set, and tells the driver its own addresses in the place
 * of theirs: there is no way around it.
 */
export class MongodbProxy {
  readonly #doors: readonly Door[];
  readonly #links = new Set<Link>();
  #mute = false;
  #matches: Matches = () => false;
  #handle: (held: HeldCommand) => void = () => undefined;
  #onAnswer: (answer: Buffer) => void = () => undefined;

  private constructor(targets: readonly string[]) {
    this.#doors = targets.map((target) => ({ target, port: 0, server: undefined }));
  }

  /** @param url - of a replica set, by one address or all; or of any other MongoDB */
  static async start(url: string): Promise<MongodbProxy> {
    const { hosts } = await commandOf(url, { hello: 1 });
    const [, addresses = ''] = /^mongodb:\/\/(?:[^@/]*@)?([^/?]+)/.exec(url) ?? [];
    const proxy = new MongodbProxy(hosts ?? addresses.split(','));
    await proxy.#listen();
    return proxy;
  }

  /** As in a URL, separated by commas. */
  get addresses(): string {
    return this.#doors.map(addressOf).join();
  }

  /** From now on, hands each command that matches to `handle` in place of the database. */
  hold(matches: Matches, handle: (held: HeldCommand) => void): void {
    this.#matches = matches;
    this.#handle = handle;
  }

  /** From now on, shows each answer of the database on its way. */
  watchAnswers(onAnswer: (answer: Buffer) => void): void {
    this.#onAnswer = onAnswer;
  }

  /** Holds the next command that matches, and only that. */
  holdNext(matches: Matches): Promise<HeldCommand> {
    return new Promise((resolve) => {
      this.hold(matches, (held) => {
        this.passAll();
        resolve(held);
      });
    });
  }

  /** Holds nothing from now on. What is held stays so. */
  passAll(): void {
    this.#matches = () => false;
  }

  /** Cuts every connection, and takes no new one. */
  async refuse(): Promise<void> {
    const closed = this.#doors.map(async (door) => {
      const { server } = door;
      door.server = undefined;
      if (server) await new Promise((resolve) => server.close(resolve));
    });
    for (const link of this.#links) link.cut();
    await Promise.all(closed);
  }

  /** Takes connections and reads nothing from them; those that there are fall silent. */
  mute(): void {
    this.#mute = true;
    for (const link of this.#links) link.mute();
  }

  /** Ends {@link refuse} and {@link mute}. What fell silent is cut, as no answer fits any more. */
  async restore(): Promise<void> {
    if (this.#mute) {
      this.#mute = false;
      for (const link of this.#links) link.cut();
    }
    await this.#listen();
  }

  /** Ends it, and every connection. */
  async stop(): Promise<void> {
    await this.refuse();
    for (const link of this.#links) link.end();
  }

  async #listen(): Promise<void> {
    await Promise.all(this.#doors.map((door) => door.server ?? this.#open(door)));
  }

  async #open(door: Door): Promise<void> {
    const server = createServer((socket) => {
      // Accepted just before it was closed.
      if (door.server !== server) return socket.destroy();
      const { hostname, port } = new URL(`tcp://${door.target}`);
      const link = new Link(
        socket,
        connect({ host: hostname, port: Number(port || 27017) }),
        (command) => this.#matches(command),
        (held) => this.#handle(held),
        (answer) => {
          this.#onAnswer(answer);
          return withAddresses(answer, (address) => this.#inPlaceOf(address));
        },
      );
      this.#links.add(link);
      void link.ended.then(() => this.#links.delete(link));
      if (this.#mute) link.mute();
    });
    door.server = server;
    server.listen(door.port, '127.0.0.1');
    await once(server, 'listening');
    door.port = (server.address() as AddressInfo).port;
  }

  #inPlaceOf(address: string): string {
    const door = this.#doors.find(({ target }) => target === address);
    return door ? addressOf(door) : address;
  }
}

function addressOf({ port }: Door): string {
  return `127.0.0.1:${port}`;
}

/** A connection of the driver's, and the one to the database that is its other half. */
class Link {
  readonly #driver: Socket;
  readonly #database: Socket;
  /** Held commands: as long as there is one, the database's side has to stay. */
  #held = 0;
  /** What the database's answer to a command is good for, where it is not for the driver. */
  readonly #executed = new Map<number, () => void>();
  readonly ended: Promise<unknown>;

  constructor(
    driver: Socket,
    database: Socket,
    matches: Matches,
    handle: (held: HeldCommand) => void,
    readAnswer: (answer: Buffer) => Buffer,
  ) {
    this.#driver = driver;
    this.#database = database;
    this.ended = Promise.all([closing(driver), closing(database)]);
    // Each end says why it ended to its own 'error'; here only that it ended counts.
    driver.on('error', () => undefined).on('close', () => this.#endIfIdle());
    database.on('error', () => undefined).on('close', () => driver.destroy());

    const commands = new MessageReader();
    driver.on('data', (chunk) => {
      for (const message of commands.read(chunk)) {
        const command = commandIn(message);
        if (matches(command)) handle(this.#hold(message, command));
        else database.write(message);
      }
    });
    const answers = new MessageReader();
    database.on('data', (chunk) => {
      for (const message of answers.read(chunk)) {
        const executed = this.#executed.get(responseTo(message));
        if (executed) executed();
        else driver.write(readAnswer(message));
      }
    });
  }

  #hold(message: Buffer, command: Document): HeldCommand {
    this.#held += 1;
    return {
      command,
      forward: () => {
        this.#held -= 1;
        this.#database.write(message);
      },
      execute: () =>
        new Promise((resolve, reject) => {
          const lost = () => reject(new Error('The database is gone.'));
          if (this.#database.destroyed) return lost();
          this.#database.once('close', lost);
          this.#executed.set(requestId(message), () => {
            this.#database.off('close', lost);
            this.#held -= 1;
            this.#endIfIdle();
            resolve();
          });
          this.#database.write(message);
        }),
      cut: () => this.cut(),
    };
  }

  cut(): void {
    this.#driver.destroy();
  }

  mute(): void {
    this.#driver.pause();
    this.#database.pause();
  }

  end(): void {
    this.#driver.destroy();
    this.#database.destroy();
  }

  #endIfIdle(): void {
    if (this.#driver.destroyed && this.#held === 0) this.#database.destroy();
  }
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('close', () => resolve());
  });
}
