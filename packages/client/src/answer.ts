import { errorClass } from './error-classes.ts';
import { type ErrorDetails, type LatchkeyError, UnexpectedResponseError } from './errors.ts';
import type { FetchResponse } from './fetch.ts';
import type { Redact } from './redact.ts';
import { type WithRequestId, withRequestId } from './request-id.ts';

type Members = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stringOr = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** The `data` of what tRPC has in an envelope; nothing where there is none. */
const dataOf = (part: unknown): Members => (isObject(part) && isObject(part.data) ? part.data : {});

/** What came back for one call: a result, an error of the service, or something else altogether. */
export class Answer {
  readonly #status: number;
  readonly #headers: FetchResponse['headers'];
  readonly #text: string;
  readonly #redact: Redact;

  constructor({ status, headers }: FetchResponse, text: string, redact: Redact) {
    this.#status = status;
    this.#headers = headers;
    this.#text = text;
    this.#redact = redact;
  }

  /**
   * The result, as it came. tRPC has it in `result.data` where the status is 2xx; with any other
   * status, `error.data` is the body that the error has over REST.
   *
   * @param object - what its `object` member has to be
   * @throws LatchkeyError
   */
  result(object: string): WithRequestId<object> {
    let json: unknown;
    try {
      json = JSON.parse(this.#text);
    } catch {
      // What JSON.parse throws quotes the text.
    }
    const envelope = isObject(json) ? json : {};
    if (this.#status < 200 || this.#status > 299) throw this.#error(dataOf(envelope.error));
    const data = dataOf(envelope.result);
    if (data.object !== object) throw this.#unexpected();
    return withRequestId(data, this.#requestId());
  }

  #error(data: Members): LatchkeyError {
    const body: Members = JSON.parse(this.#redact(JSON.stringify(data)));
    const message = stringOr(body.error_description);
    const errorCode = stringOr(body.error_code);
    if (message === undefined || errorCode === undefined) return this.#unexpected();
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

  #unexpected(): UnexpectedResponseError {
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
    const retryAfter = this.#headers.get('retry-after') ?? '';
    return {
      status: this.#status,
      requestId: this.#requestId(),
      retryAfter: /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    };
  }

  #requestId(): string | undefined {
    const requestId = this.#headers.get('x-request-id');
    return requestId ? this.#redact(requestId) : undefined;
  }
}
