import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { BSON, type Document } from 'mongodb';
import { grantIndexes, rateLimitIndexes, refusalIndexes } from './indexes.ts';
import { commandIn, MessageReader, nameOf, replyTo } from './wire-messages.ts';

/** What the server does with a command: a reply, or the connection is closed without one. */
export type Answer = Document | 'close';

/**
 * For tests: speaks MongoDB's wire protocol and answers what the test says, so that the driver can
 * be shown what no server can be made to do on demand. It keeps no data.
 */
export class ScriptedServer {
  /** Every command that a test might ask for, in order. */
  readonly received: Document[] = [];
  /** What is said in `hello`, on top of what every server says. */
  hello: Document = {};
  readonly #scripts = new Map<string, (command: Document) => Answer>();
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  static async start(hello: Document = {}): Promise<ScriptedServer> {
    const server = new ScriptedServer();
    server.hello = hello;
    await server.listen();
    return server;
  }

  /** Starts it, or starts it again on the same port. */
  async listen(): Promise<void> {
    const server = createServer((socket) => this.#serve(socket));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Ends it with all its connections. */
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

  /** Answers a command by what a function makes of it. */
  on(name: string, answer: (command: Document) => Answer): void {
    this.#scripts.set(name, answer);
  }

  /** Answers a command with one after the other of these, and then always with the last. */
  script(name: string, ...answers: Answer[]): void {
    let next = 0;
    this.on(name, () => answers[Math.min(next++, answers.length - 1)] as Answer);
  }

  /** The commands of a name that arrived. */
  sent(name: string): Document[] {
    return this.received.filter((command) => nameOf(command) === name);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    const reader = new MessageReader();
    socket.on('data', (chunk) => {
      for (const message of reader.read(chunk)) this.#answer(socket, message);
    });
  }

  #answer(socket: Socket, message: Buffer): void {
    const command = commandIn(message);
    const answer = this.#reply(nameOf(command), command);
    if (answer === 'close') socket.destroy();
    else socket.write(replyTo(message, { ok: 1, ...answer }));
  }

  #reply(name: string, command: Document): Answer {
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
    return scripted ? scripted(command) : unscripted(name);
  }
}

/** What a primary says of itself. The driver looks for the members of the set where it says. */
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

function unscripted(name: string): Document {
  switch (name) {
    case 'find':
    case 'aggregate':
      return batch();
    case 'listIndexes':
      return batch(
        { v: 2, key: { _id: 1 }, name: '_id_' },
        // Of whichever collection it is asked: what else there is, is left alone.
        ...[...grantIndexes, ...refusalIndexes, ...rateLimitIndexes].map(
          ({ name, key, options }) => ({ v: 2, key, name, ...options }),
        ),
      );
    case 'findAndModify':
      return { value: null, lastErrorObject: { n: 0, updatedExisting: false } };
    default:
      return { n: 1, nModified: 1 };
  }
}
