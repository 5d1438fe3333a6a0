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

/** `ReadyForQuery`, outside of a transaction: the response is complete, and what was made is committed. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

const GONE = 'SERROR\0VERROR\0C08006\0Mserver is gone\0\0';
const LENGTH = String.fromCharCode(0, 0, 0, GONE.length + 4);
const ERROR = Buffer.concat([Buffer.from(`E${LENGTH}${GONE}`, 'latin1'), READY]);

interface Target {
  host: string;
  port: number;
}

/** What becomes of what a client has sent; undefined if it arrives. */
type Choice = (data: Buffer) => { how: Loss; done?: () => void } | undefined;

const loseNothing: Choice = () => undefined;

/** One address before servers of PostgreSQL, as that of a load balancer. */
export class Relay {
  readonly #server: Server;
  /** Clients, each with its connection to a server. */
  readonly #connections = new Map<Socket, Socket>();
  #to: Target[];
  #lossOf = loseNothing;
  #late: (() => void)[] = [];

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

  /** Loses the next statement with these words in it; resolves when it has. */
  lose(how: Loss, words: string): Promise<void> {
    const { promise, resolve: done } = Promise.withResolvers<void>();
    this.#lossOf = (data) => {
      if (!data.includes(words)) return undefined;
      this.#lossOf = loseNothing;
      return { how, done };
    };
    return promise;
  }

  /** Loses each nth statement with these words in it, in all ways in turn. {@link deliver} ends that. */
  loseEach(nth: number, words: string): void {
    let count = 0;
    this.#lossOf = (data) => {
      if (!data.includes(words) || ++count % nth > 0) return undefined;
      return { how: losses[(count / nth) % losses.length] as Loss };
    };
  }

  /** Loses no more, and lets what is late arrive. */
  deliver(): void {
    this.#lossOf = loseNothing;
    for (const arrive of this.#late.splice(0)) arrive();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
  }

  #relay(client: Socket): void {
    const [to, ...others] = this.#to as [Target];
    this.#to = [...others, to];
    const server = dial(to);
    this.#connections.set(client, server);
    for (const socket of [client, server]) socket.setNoDelay().on('error', () => undefined);
    let lost: Loss | undefined;
    let done: (() => void) | undefined;
    const end = () => {
      client.destroy();
      done?.();
    };
    client.on('data', (data) => {
      if (lost === undefined) {
        ({ how: lost, done } = this.#lossOf(data) ?? {});
        // In the next turn: what follows of the statement is there too.
        if (lost === 'before' || lost === 'late') setTimeout(end, 10);
      }
      if (lost === 'late') this.#late.push(() => server.write(data));
      else if (lost !== 'before') server.write(data);
    });
    server.on('data', (data) => {
      if (lost === undefined) client.write(data);
      else if (data.includes(READY)) {
        if (lost === 'after') end();
        if (lost !== 'pooled') return;
        client.write(ERROR);
        done?.();
        lost = undefined;
      }
    });
    server.on('close', () => {
      client.destroy();
      this.#connections.delete(client);
    });
    client.on('close', () => {
      if (lost === 'late') this.#late.push(() => server.end());
      else server.end();
    });
  }
}

function targetOf(url: string): Target {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
