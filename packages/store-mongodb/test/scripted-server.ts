import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import {
  commandIn,
  MessageReader,
  nameOf,
  replyTo,
} from '@latchkey/test-kit/mongodb/wire-messages';
import { Binary, BSON, type Document } from 'mongodb';
import { indexesOf } from '../src/indexes.ts';

/** A reply to a command, 'close' to close the connection without one, or 'hold' to reply later. */
export type Reply = Document | 'close' | 'hold';

/**
 * Speaks MongoDB's wire protocol and replies what the test says, for what a real server does not do
 * on demand. It stores no data.
 */
export class ScriptedServer {
  /** The commands so far, without those that the driver sends by itself. */
  readonly received: Document[] = [];
  /** Members of the reply to `hello`, besides the usual ones. */
  hello: Document = {};
  readonly #scripts = new Map<string, (command: Document) => Reply>();
  readonly #held = new Map<string, ((reply: Document) => void)[]>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  static async start(hello: Document = {}): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    server.hello = hello;
    await server.listen();
    return server;
  }

  /** Starts, or restarts on the same port. */
  async listen(): Promise<void> {
    const server = createServer((socket) => this.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Stops, and closes all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get url(): string {
    return `mongodb://${this.address}/`;
  }

  /** Replies to a command with the result of a function. */
  on(name: string, reply: (command: Document) => Reply): void {
    this.#scripts.set(name, reply);
  }

  /** Adds a function to `replies` for each command of a name, which replies to it. */
  hold(name: string, replies: ((reply: Document) => void)[]): void {
    this.#held.set(name, replies);
    this.on(name, () => 'hold');
  }

  /** Replies to a command with these in order, then always with the last. */
  script(name: string, ...replies: Reply[]): void {
    let next = 0;
    this.on(name, () => replies[Math.min(next++, replies.length - 1)] as Reply);
  }

  /** The received commands of a name. */
  sent(name: string): Document[] {
    return this.received.filter((command) => nameOf(command) === name);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    const reader = new MessageReader();
    socket.on('data', (chunk) => {
      for (const message of reader.read(chunk)) this.#respond(socket, message);
    });
  }

  #respond(socket: Socket, message: Buffer): void {
    const command = commandIn(message);
    const reply = this.#reply(nameOf(command), command);
    const send = (document: Document) => socket.write(replyTo(message, { ok: 1, ...document }));
    if (reply === 'close') socket.destroy();
    else if (reply === 'hold') this.#held.get(nameOf(command))?.push(send);
    else send(reply);
  }

  #reply(name: string, command: Document): Reply {
    switch (name) {
      case 'hello':
      case 'isMaster':
      case 'ismaster':
        return {
          helloOk: true,
          isWritablePrimary: true,
          ismaster: true,
          minWireVersion: 0,
          maxWireVersion: 21,
          maxBsonObjectSize: 16_777_216,
          maxMessageSizeBytes: 48_000_000,
          maxWriteBatchSize: 100_000,
          logicalSessionTimeoutMinutes: 30,
          ...this.hello,
        };
      case 'endSessions':
        return {};
    }
    this.received.push(command);
    const scripted = this.#scripts.get(name);
    return scripted ? scripted(command) : unscripted(name, command);
  }
}

/** What a primary says about itself. The driver connects to the members that it names. */
export function primaryOf(server: ScriptedServer): Document {
  return {
    setName: 'rs0',
    setVersion: 1,
    hosts: [server.address],
    me: server.address,
    primary: server.address,
    secondary: false,
  };
}

/** An error reply. */
export function failure(code: number, codeName: string, more: Document = {}): Document {
  return { ok: 0, code, codeName, errmsg: codeName, ...more };
}

/** A reply with documents, all in the first batch. */
export function batch(...documents: Document[]): Document {
  return { cursor: { id: BSON.Long.ZERO, ns: 'latchkey.any', firstBatch: documents } };
}

function unscripted(name: string, command: Document): Document {
  switch (name) {
    case 'find':
      return batch();
    case 'aggregate':
      return batch(...unmarked(command));
    case 'listIndexes':
      return batch(
        { v: 2, key: { _id: 1 }, name: '_id_' },
        ...(indexesOf()[command.listIndexes] ?? []).map(({ name, key, options }) => ({
          ...{ v: 2, key, name },
          ...options,
        })),
      );
    case 'findAndModify':
      return { value: null, lastErrorObject: { n: 0, updatedExisting: false } };
    default:
      return { n: 1, nModified: 1 };
  }
}

/** What a write looks at first: a grant, or a code, that no mark has ended. */
export function unmarked({ pipeline = [] }: Document, members: Document = {}): Document[] {
  const [{ $match: { _id } = {} } = {}] = pipeline as Document[];
  const joined = (pipeline as Document[]).flatMap(({ $lookup }) => $lookup?.as ?? []);
  if (!joined.includes('joined_ofAccount')) return [];
  const marks = Object.fromEntries(joined.map((as) => [as, []]));
  const found = { code_hash: new Binary(new Uint8Array(32)), created_at: new Date(0), ...members };
  return (_id.$in ?? [_id]).map((id: unknown) => ({ _id: id, ...found, ...marks }));
}
