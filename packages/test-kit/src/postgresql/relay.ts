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
export type Loss = 'before' | 'late' | 'after' | 'pooled';

/** `ReadyForQuery`, outside of a transaction: the response is complete, and what was made is committed. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

const GONE = 'SERROR\0VERROR\0C08006\0Mserver is gone\0\0';
const LENGTH = String.fromCharCode(0, 0, 0, GONE.length + 4);
const ERROR = Buffer.concat([Buffer.from(`E${LENGTH}${GONE}`, 'latin1'), READY]);

interface Target {
  host: string;
  port: number;
}

/** One address before servers of PostgreSQL, as that of a load balancer. */
export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #to: Target;
  #loss: { how: Loss; words: string; done: () => void } | undefined;
  #late: (() => void)[] = [];

  private constructor(to: Target) {
    this.#to = to;
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

  /** Leads new connections to another server, and ends all others. */
  leadTo(url: string): void {
    this.#to = targetOf(url);
    this.cut();
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Loses the next statement with these words in it; resolves when it has. */
  lose(how: Loss, words: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#loss = { how, words, done: resolve };
    return promise;
  }

  /** Lets what is late arrive. */
  deliver(): void {
    for (const arrive of this.#late.splice(0)) arrive();
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.cut();
  }

  #relay(client: Socket): void {
    const server = dial(this.#to);
    for (const socket of [client, server]) {
      this.#sockets.add(socket.setNoDelay());
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    }
    let lost: Loss | undefined;
    let done: (() => void) | undefined;
    const end = () => {
      client.destroy();
      done?.();
    };
    client.on('data', (data) => {
      const loss = this.#loss;
      if (lost === undefined && loss && data.includes(loss.words)) {
        this.#loss = undefined;
        ({ how: lost, done } = loss);
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
    server.on('close', () => client.destroy());
    client.on('close', () => {
      if (lost !== 'late') server.end();
    });
  }
}

function targetOf(url: string): Target {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
