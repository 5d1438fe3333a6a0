import { connect, type Socket } from 'node:net';

/** A response as it was received. */
export interface RawResponse {
  status: number;
  /** The header lines in their order, with names as they were written. */
  lines: string[];
  body: string;
}

/** A connection on which a test can write what no HTTP client would. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #arrived = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  /** The error that ended the connection, such as ECONNRESET or EPIPE. */
  fault: string | undefined;
  ended = false;

  /** @param from - the address of the client. Default: 127.0.0.1 */
  constructor({ url }: { url: string }, from = '127.0.0.1') {
    const port = Number(new URL(url).port);
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from });
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

  /** Sends header lines, and a body as it is. */
  request(lines: string[], body = ''): void {
    this.socket.write(`${[...lines, '', ''].join('\r\n')}${body}`);
  }

  /** Reads the next response. A response to HEAD has no body. */
  async response(options: { head?: boolean } = {}): Promise<RawResponse> {
    for (;;) {
      const end = this.#received.indexOf('\r\n\r\n');
      if (end !== -1) {
        const [statusLine = '', ...lines] = this.#received.slice(0, end).split('\r\n');
        const status = Number(statusLine.split(' ')[1]);
        // A response of Node's parser has no body and no Content-Length.
        const length =
          status < 200 || options.head ? 0 : Number(headerOf(lines, 'Content-Length') ?? 0);
        const body = Buffer.from(this.#received.slice(end + 4));
        if (body.length >= length) {
          this.#received = body.subarray(length).toString();
          return { status, lines, body: body.subarray(0, length).toString() };
        }
      }
      if (this.ended)
        throw new Error(`The connection ended (${this.fault ?? 'without an error'}).`);
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

/** The value of a header. The case of the name matters. */
export function headerOf(lines: readonly string[], name: string): string | undefined {
  const line = lines.find((candidate) => candidate.startsWith(`${name}: `));
  return line?.slice(name.length + 2);
}
