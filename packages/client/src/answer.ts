import { errorClass } from './error-classes.ts';
import { type ErrorDetails, type LatchkeyError, UnexpectedResponseError } from './errors.ts';
import type { FetchResponse } from './fetch.ts';
import type { Redact } from './redact.ts';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stringOr = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** What came back for one call, and every way to say that it is wrong. */
export class Answer {
  readonly #status: number;
  readonly #headers: FetchResponse['headers'];
  readonly #text: string;
  readonly #redact: Redact;

  /** Reads an answer to its end. */
  static async read(response: FetchResponse, redact: Redact): Promise<Answer> {
    return new Answer(response, await response.text(), redact);
  }

  private constructor({ status, headers }: FetchResponse, text: string, redact: Redact) {
    this.#status = status;
    this.#headers = headers;
    this.#text = text;
    this.#redact = redact;
  }

  /**
   * The JSON of it, which is what tRPC answers with this status: a result with 2xx, else an error.
   *
   * @throws UnexpectedResponseError
   */
  envelope(): object {
    const member = this.#status >= 200 && this.#status < 300 ? 'result' : 'error';
    let json: unknown;
    try {
      json = JSON.parse(this.#text);
    } catch {
      // What JSON.parse throws quotes the text.
    }
    if (isObject(json) && isObject(json[member])) return json;
    throw this.unexpected();
  }

  /**
   * The error for the body of an error, as it is over REST, and over tRPC in `error.data`.
   *
   * @param data - what tRPC found there
   */
  error(data: unknown): LatchkeyError {
    if (!isObject(data)) return this.unexpected();
    const body: Members = JSON.parse(this.#redact(JSON.stringify(data)));
    const message = stringOr(body.error_description);
    const errorCode = stringOr(body.error_code);
    if (message === undefined || errorCode === undefined) return this.unexpected();
    const details = {
      ...this.#details(),
      errorCode,
      errorUri: stringOr(body.error_uri),
      grant_id: stringOr(body.grant_id),
      issues: Array.isArray(body.issues) ? body.issues : undefined,
    };
    details.requestId ??= stringOr(body.request_id);
    return new (errorClass(details))(message, details);
  }

  /** The error for an answer that Latchkey does not give. */
  unexpected(): UnexpectedResponseError {
    const header = this.#redact(this.#headers.get('content-type') ?? '');
    const type = /^[\w.+-]+\/[\w.+-]+/.exec(header)?.[0];
    return new UnexpectedResponseError(
      this.#status >= 300 && this.#status < 400
        ? `The answer is a redirect (status ${this.#status}), which is not followed, so that no credential goes astray. Set baseUrl to where it leads.`
        : `The answer with status ${this.#status} (${type ?? 'no content type'}, ${this.#text.length} characters) is none of Latchkey's. Check baseUrl and the proxies on the way. The service may have done what was asked.`,
      this.#details(),
    );
  }

  #details(): ErrorDetails {
    const requestId = this.#headers.get('x-request-id');
    const retryAfter = this.#headers.get('retry-after') ?? '';
    return {
      status: this.#status,
      requestId: requestId ? this.#redact(requestId) : undefined,
      retryAfter: /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    };
  }
}
