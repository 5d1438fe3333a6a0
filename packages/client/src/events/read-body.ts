import { bytesOf, concatenated } from './verify-event.ts';

/** The parts of Node's request that are read, with the `body` that a parser may have added. */
export interface NodeBody {
  /** Whether something has read from the stream already. */
  readonly readableDidRead?: boolean | undefined;
  /** Whether the connection was closed, or the body was read to its end. */
  readonly destroyed?: boolean | undefined;
  /** The bytes of the body that a platform keeps besides the parsed `body`. */
  readonly rawBody?: unknown;
  /** The body as `express.raw()` or `express.text()` reads it. */
  readonly body?: unknown;
  /**
   * Adds a listener for the parts of the body.
   *
   * @param event - `data`, `end`, `error` or `close`
   * @param listener - called with the part, or with the error
   */
  // biome-ignore lint/suspicious/noExplicitAny: As in the types of Node.
  on(event: string, listener: (value: any) => void): unknown;
}

/**
 * Reads the body of Node's request, unless a parser that keeps the bytes has read it.
 *
 * @param advice - what to do if another parser has read it
 * @returns null if there are more bytes than `most`
 */
export async function readNodeBody(
  request: NodeBody,
  most: number,
  advice: string,
): Promise<Uint8Array | null> {
  const kept = bytesOf(request.rawBody) ?? bytesOf(request.body);
  if (kept) return kept.length > most ? null : kept;
  if (request.readableDidRead) throw consumed(advice);
  // Then no listener would ever be called.
  if (request.destroyed) throw broken();
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let length = 0;
    request.on('data', (part: Uint8Array) => {
      length += part.length;
      if (length <= most) parts.push(part);
      // The rest is read and forgotten: a socket that is closed before would lose the response.
      else resolve(null);
    });
    request.on('end', () => resolve(concatenated(parts)));
    request.on('error', reject);
    request.on('close', () => reject(broken()));
  });
}

/** The part of the reader of a standard stream that is used. */
export interface BodyReader {
  /**
   * Reads a part of the body.
   *
   * @returns the part; none at the end
   */
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
}

/** The parts of a standard `Request` whose body is read. */
export interface FetchBody {
  /** Whether something has read the body already. */
  readonly bodyUsed: boolean;
  /** The stream of the body; null for none. */
  readonly body: {
    /**
     * Begins to read.
     *
     * @returns the reader
     */
    getReader(): BodyReader;
  } | null;
}

/** Reads the body of a standard `Request`; null if there are more bytes than `most`. */
export async function readFetchBody(
  request: FetchBody,
  most: number,
  advice: string,
): Promise<Uint8Array | null> {
  if (request.bodyUsed) throw consumed(advice);
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = request.body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    length += part.value.length;
    if (length > most) {
      void discard(reader);
      return null;
    }
    parts.push(part.value);
  }
  return concatenated(parts);
}

/**
 * Reads the rest and forgets it. If it were cancelled, Node would close the socket before the response;
 * if it were left, the connection could not be used again.
 */
async function discard(reader: BodyReader | undefined): Promise<void> {
  try {
    while ((await reader?.read())?.value);
  } catch {
    // The response does not depend on it.
  }
}

const broken = () => new Error('The connection was closed within the body.');

const consumed = (advice: string) =>
  new TypeError(
    `Another parser has read the body of the message, so the bytes that are signed are gone. ${advice}`,
  );
