import { connect, type Socket } from 'node:net';

/** An answer as its bytes are. */
export interface RawAnswer {
  status: number;
  /** Header lines in their order, names as they were written. */
  lines: string[];
  body: string;
}

/** A connection on which a test writes what no HTTP client would. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #arrived = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  /** Why the connection ended, if it did not by itself: ECONNRESET, EPIPE. */
  fault: string | undefined;
  ended = false;

  constructor({ url }: { url: string }) {
    this.socket = connect(Number(new URL(url).port), '127.0.0.1');
    this.socket.setEncoding('utf8');
    this.socket.on('data', (text: string) => {
      this.#received += text;
      this.#wake();
    });
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.fault = error.code ?? error.message;
    });
    this.socket.on('end', () => {
      this.ended = true;
    });
    this.socket.on('close', () => {
      this.ended = true;
      this.#closed.resolve();
      this.#wake();
    });
  }

  #wake(): void {
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }

  /** Lines of a head, and a body as it is on the wire. */
  request(lines: string[], body = ''): void {
    this.socket.write(`${[...lines, '', ''].join('\r\n')}${body}`);
  }

  /** The next answer; one to a HEAD has no body. */
  async answer(options: { head?: boolean } = {}): Promise<RawAnswer> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end !== -1) {
        const [statusLine = '', ...lines] = this.#received.slice(0, end).split('\r\n');
        const status = Number(statusLine.split(' ')[1]);
        // What the parser refuses is answered without a body, and without a length.
        const length =
          status < 200 || options.head ? 0 : Number(headerOf(lines, 'Content-Length') ?? 0);
        const body = Buffer.from(this.#received.slice(end + 4));
        if (body.length >= length) {
          this.#received = body.subarray(length).toString();
          return { status, lines, body: body.subarray(0, length).toString() };
        }
      }
      if (this.ended) throw new Error(`The connection ended (${this.fault ?? 'in order'}).`);
      await this.#arrived.promise;
    }
  }

  /** Resolves when the connection is closed, for whatever reason. */
  closed(): Promise<void> {
    return this.#closed.promise;
  }

  end(): void {
    this.socket.destroy();
  }
}

/** The value of a header whose name is written just so. */
export function headerOf(lines: readonly string[], name: string): string | undefined {
  const line = lines.find((candidate) => candidate.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}
