import type { LinkStatus } from '@latchkey/schema';
import { errorClass } from './error-classes.ts';
import { type ErrorDetails, type LatchkeyError, UnexpectedResponseError } from './errors.ts';
import type { FetchResponse } from './fetch.ts';
import type { Redact } from './redact.ts';
import { responseDetails, type WithResponse, withResponse } from './response-details.ts';

/** A response whose body was read. */
export interface ReceivedResponse {
  /** The URL of the request. */
  readonly url: URL;
  readonly status: number;
  readonly headers: FetchResponse['headers'];
  readonly text: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Tells whether an object is of the kind that an operation returns. */
export type IsResult = (data: Members) => boolean;

/**
 * Reads the result of a call. tRPC has it in `result.data` if the status is 2xx. With any other
 * status, `error.data` is the body that the error has over REST.
 *
 * @param isResult - whether an object is of the kind that the operation returns
 * @returns the result as the service sent it
 * @throws LatchkeyError if the service reports an error, or the response is not from Latchkey
 */
export function readResponse(
  response: ReceivedResponse,
  isResult: IsResult,
  redact: Redact,
): WithResponse<object> {
  const envelope = parseEnvelope(response.text);
  if (response.status < 200 || response.status > 299) {
    const body = isAtWrongPath(envelope) ? envelope : (dataOf(envelope.error) ?? {});
    throw serviceError(response, body, redact);
  }
  const data = dataOf(envelope.result);
  if (!data || !isResult(data)) throw unexpectedResponse(response, redact);
  return withResponse(data, {
    request_id: requestIdOf(response, redact),
    response: responseDetails(response, redact),
  });
}

function parseEnvelope(text: string): Members {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : {};
  } catch {
    // The error of JSON.parse quotes the text, so it is not kept as a cause.
    return {};
  }
}

// At a path that is not tRPC's, the service has the body of the error without an envelope.
const isAtWrongPath = ({ error_code, error_description }: Members) =>
  error_code === 'route_not_found' && stringOf(error_description) !== undefined;

function serviceError(response: ReceivedResponse, data: Members, redact: Redact): LatchkeyError {
  const body: Members = JSON.parse(JSON.stringify(data), (_, value) =>
    typeof value === 'string' ? redact(value) : value,
  );
  const errorCode = stringOf(body.error_code);
  const message = isAtWrongPath(body)
    ? wrongPathMessage(response.url, redact)
    : stringOf(body.error_description);
  if (message === undefined || errorCode === undefined) return unexpectedResponse(response, redact);
  const details: ErrorDetails = {
    ...detailsOf(response, redact),
    error_code: errorCode,
    error_uri: stringOf(body.error_uri),
    grant_id: stringOf(body.grant_id),
    link_status: stringOf(body.status) as LinkStatus | undefined,
    redirect_to: stringOf(body.redirect_to),
    issues: Array.isArray(body.issues) ? body.issues : undefined,
  };
  details.request_id ??= stringOf(body.request_id);
  return new (errorClass(details))(message, details);
}

function wrongPathMessage({ origin, pathname }: URL, redact: Redact): string {
  const [prefix = '/'] = /^.*\/(?=trpc\/)/.exec(pathname) ?? [];
  const fix =
    prefix === '/'
      ? 'Check the host and port of baseUrl: applications use PORT, not ADMIN_PORT. Check also that a proxy in between keeps the path as it is.'
      : `If baseUrl needs no path, set it to ${origin}. If a proxy publishes the service at ${prefix}, it must remove that prefix before it passes a request on.`;
  return redact(
    `This is Latchkey, but not at this path: it does not serve ${pathname}. Nothing was done. ${fix}`,
  );
}

function unexpectedResponse(response: ReceivedResponse, redact: Redact): UnexpectedResponseError {
  return new UnexpectedResponseError(
    unexpectedMessage(response, redact),
    detailsOf(response, redact),
  );
}

function unexpectedMessage({ status, headers, text }: ReceivedResponse, redact: Redact): string {
  if (status >= 300 && status < 400) {
    return `The response is a redirect (status ${status}). The client does not follow redirects, because they could send credentials to another host. Set baseUrl to the address that the redirect points to.`;
  }
  const contentType = redact(headers.get('content-type') ?? '');
  const mediaType = /^[\w.+-]+\/[\w.+-]+/.exec(contentType)?.[0] ?? 'no content type';
  const kind = `status ${status} (${mediaType}, ${text.length} characters)`;
  const problem =
    status >= 502 && status <= 504
      ? `A proxy answered in place of Latchkey, with ${kind}. Check baseUrl, and that the proxy reaches the service.`
      : `The response with ${kind} is not from Latchkey. Check baseUrl, and any proxy in between.`;
  return `${problem} The service may have carried out the request.`;
}

function detailsOf(response: ReceivedResponse, redact: Redact): ErrorDetails {
  return {
    status: response.status,
    response: responseDetails(response, redact),
    request_id: requestIdOf(response, redact),
    retry_after: secondsToWait(response.headers),
  };
}

/** RFC 9110, section 10.2.3. A date is compared with the clock that it comes from. */
function secondsToWait(headers: FetchResponse['headers']): number | undefined {
  const text = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(text)) return Number(text);
  const sentAt = Date.parse(headers.get('date') ?? '') || Date.now();
  const seconds = Math.ceil((Date.parse(text) - sentAt) / 1000);
  return / GMT$/.test(text) && seconds > 0 ? seconds : undefined;
}

function requestIdOf({ headers }: ReceivedResponse, redact: Redact): string | undefined {
  const requestId = headers.get('x-request-id');
  return requestId ? redact(requestId) : undefined;
}

/** The `data` of one half of tRPC's envelope; undefined if there is none. */
const dataOf = (part: unknown): Members | undefined =>
  isObject(part) && isObject(part.data) ? part.data : undefined;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const stringOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
