import { once } from 'node:events';
import {
  type AddressInfo,
  createServer,
  connect as dial,
  type Server,
  type Socket,
} from 'node:net';

/**
 * What becomes of a statement: it never arrives, it arrives after its connection is lost, it arrives and its response
 * is lost, or a pooler that has lost the server responds in its place.
 */
export type Loss = (typeof losses)[number];
export const losses = ['before', 'late', 'after', 'pooled'] as const;

/** A statement that is on its way to the server, and does not get on by itself. */
export interface HeldStatement {
  /** Lets it go on its way, as if it had not been held. */
  forward(): void;
  /** Has the server execute it; of its response, the client hears nothing. */
  execute(): Promise<void>;
  /** Cuts the client's connection. The statement can still be executed afterwards. */
  cut(): void;
  /** Cuts both connections. */
  drop(): void;
  /** Responds as a pooler does that has lost the server. */
  fail(): void;
}

/** `ReadyForQuery`, outside of a transaction: the response is complete, and what was made is committed. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');
/** `Sync`, the end of what a client sends for one statement. */
const SYNC = Buffer.from('S\0\0\0\x04', 'latin1');

const GONE = 'SERROR\0VERROR\0C08006\0Mserver is gone\0\0';
const LENGTH = String.fromCharCode(0, 0, 0, GONE.length + 4);
const ERROR = Buffer.concat([Buffer.from(`E${LENGTH}${GONE}`, 'latin1'), READY]);

interface Target {
  host: string;
  port: number;
}

type Matches = (text: string) => boolean;

const matchesNone: Matches = () => false;

/** One address before servers of PostgreSQL, as that of a load balancer. */
export class Relay {
  readonly #server: Server;
  /** Clients, each with its connection to a server. */
  readonly #connections = new Map<Socket, Socket>();
  #to: Target[];
  #matches = matchesNone;
  #handle: (held: HeldStatement) => void = () => undefined;
  #late: (() => void)[] = [];
  #refuses = false;

  private constructor(to: Target) {
    this.#to = [to];
    this.#server = createServer((client) => this.#relay(client));
  }

  /** @param to - a server, by its URL */
  static async start(to: string): Promise<Relay> {
    const relay = new Relay(targetOf(to));
    await once(relay.#server.listen(0, '127.0.0.1'), 'listening');
    return relay;
  }

  /** The URL of a database behind it. */
  urlOf(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return through.href;
  }

  /** Leads new connections to these servers in turn, and ends all others. */
  leadTo(...urls: string[]): void {
    this.#to = urls.map(targetOf);
    this.cut();
  }

  /** Ends all connections. */
  cut(): void {
    for (const pair of this.#connections) for (const socket of pair) socket.destroy();
  }

  /** Ends all connections, and each new one until {@link restore}. */
  refuse(): void {
    this.#refuses = true;
    this.cut();
  }

  restore(): void {
    this.#refuses = false;
  }

  /** From now on, hands each statement whose text matches to `handle` in place of the server. */
  hold(matches: Matches, handle: (held: HeldStatement) => void): void {
    this.#matches = matches;
    this.#handle = handle;
  }

  /** Holds nothing from now on. What is held stays so. */
  passAll(): void {
    this.#matches = matchesNone;
  }

  /** Loses each nth statement with these words in it, in all ways in turn. {@link deliver} ends that. */
  loseEach(nth: number, words: string): void {
    let count = 0;
    const isNext = (text: string) => text.includes(words) && ++count % nth === 0;
    this.hold(isNext, async (held) => {
      const how = losses[(count / nth) % losses.length] as Loss;
      if (how === 'late') this.#late.push(held.execute);
      if (how === 'after' || how === 'pooled') await held.execute().catch(() => undefined);
      if (how === 'pooled') held.fail();
      else if (how === 'before') held.drop();
      else held.cut();
    });
  }

  /** Loses no more, and lets what is late arrive. */
  async deliver(): Promise<void> {
    this.passAll();
    const late = this.#late.splice(0).map((arrive) => arrive());
    await Promise.allSettled(late);
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
  }

  #relay(client: Socket): void {
    if (this.#refuses) return void client.destroy();
    const [to, ...others] = this.#to as [Target];
    this.#to = [...others, to];
    const server = dial(to);
    this.#connections.set(client, server);
    for (const socket of [client, server]) socket.setNoDelay().on('error', () => undefined);
    /** What of a held statement has come so far. */
    let held: Buffer | undefined;
    /** Gets the response that the client is not to hear. */
    let executed: (() => void) | undefined;
    const statementOf = (statement: Buffer): HeldStatement => ({
      forward() {
        held = undefined;
        server.write(statement);
      },
      execute: () =>
        new Promise((resolve, reject) => {
          const lost = () => reject(new Error('The server is gone.'));
          if (server.destroyed) return lost();
          server.once('close', lost);
          executed = () => {
            executed = held = undefined;
            resolve();
            if (client.destroyed) server.end();
          };
          server.write(statement);
        }),
      cut: () => client.destroy(),
      drop() {
        held = undefined;
        client.destroy();
      },
      fail() {
        held = undefined;
        client.write(ERROR);
      },
    });
    client.on('data', (data) => {
      if (held !== undefined) held = Buffer.concat([held, data]);
      else if (this.#matches(data.toString('latin1'))) held = data;
      else server.write(data);
      if (held !== undefined && data.subarray(-SYNC.length).equals(SYNC)) {
        this.#handle(statementOf(held));
      }
    });
    server.on('data', (data) => {
      if (executed === undefined) client.write(data);
      else if (data.includes(READY)) executed();
    });
    server.on('close', () => {
      client.destroy();
      this.#connections.delete(client);
    });
    client.on('close', () => {
      // What is held can still be executed.
      if (held === undefined) server.end();
    });
  }
}

function targetOf(url: string): Target {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
