import { BadSetting, wrappingFault } from '@latchkey/domain/bad-setting';
import { decodeJson } from '@latchkey/domain/decode-json';
import { DomainError, type ErrorMembers } from '@latchkey/domain/domain-error';
import { isLoopbackHost } from '@latchkey/domain/loopback';
import { stillText } from '@latchkey/domain/still-text';
import {
  credentialPattern,
  type ErrorCode,
  errorDefinition,
  errorTable,
  isRead,
  type OperationContract,
  type OperationOutput,
  operations,
} from '@latchkey/schema';
import type { OperatorOperation } from '../operations/call-operation.ts';
import { readSecretFile } from '../secret-file.ts';
import type { CallAsOperator } from './open-for-command.ts';

/** An export of an account is sent in pieces, and each may take this long. */
const SILENCE_MS = 60_000;

const MOST_MIB = 64;
/** More than an export of that size has. Of the shortest ones, such as `0,`, it has 30 million, which take gigabytes. */
const MOST_VALUES = 2_500_000;

type Members = Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Members;
}

/** Calls a running service. Its errors are those that a command has on a database. */
export function callsOverTheWire(
  url: string,
  environment: NodeJS.ProcessEnv,
  silenceMs = SILENCE_MS,
): CallAsOperator {
  const base = baseFrom(url);
  const secret = secretFrom(environment);
  return async (name, input) => {
    const contract: OperationContract = operations[name];
    const answer = await send(base, secret, name, contract, input, silenceMs);
    if (answer.status < 200 || answer.status > 299) throw failureOf(answer, base, contract);
    const output = memberOf(answer.body, 'result');
    // It stops at the first fault: of a million, the issues would take gigabytes.
    if (!contract.output.validate(output)) throw notLatchkey(answer, base, contract);
    return output as OperationOutput<typeof name>;
  };
}

function baseFrom(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  // Nothing quotes the URL, which may have a password.
  if (url === null || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new BadSetting(
      '--url must be the https: address of the service, without a user and a password. Example: --url https://link.example',
    );
  }
  if (url.search || url.hash) throw new BadSetting('--url must have no query and no fragment.');
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname)) {
    throw new BadSetting(
      '--url must be an https: address, because the secret would cross the network in clear. http: is for this machine alone: localhost, 127.0.0.1 or [::1].',
    );
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

function secretFrom({
  LATCHKEY_ADMIN_SECRET: text,
  LATCHKEY_ADMIN_SECRET_FILE: file,
}: NodeJS.ProcessEnv): string {
  if (text && file) {
    throw new BadSetting(
      'LATCHKEY_ADMIN_SECRET and LATCHKEY_ADMIN_SECRET_FILE are both set. Unset one of them.',
    );
  }
  const secret = file ? readFileOf(file) : text;
  if (!secret) {
    throw new BadSetting(
      '--url needs a credential of the operator: set LATCHKEY_ADMIN_SECRET, or LATCHKEY_ADMIN_SECRET_FILE to the path of a file with it.',
    );
  }
  const fault = wrappingFault(secret);
  if (fault !== null) throw new BadSetting(`LATCHKEY_ADMIN_SECRET, or its file, ${fault}.`);
  // `fetch` quotes a header that it refuses.
  if (!/^[\x21-\x7e]+$/.test(secret)) {
    throw new BadSetting(
      'The secret for --url must be printable ASCII without spaces. Check LATCHKEY_ADMIN_SECRET or its file.',
    );
  }
  return secret;
}

function readFileOf(path: string): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new BadSetting(`LATCHKEY_ADMIN_SECRET_FILE: the file cannot be read (${code}).`);
  }
}

async function send(
  base: URL,
  secret: string,
  name: OperatorOperation,
  contract: OperationContract,
  input: object,
  silenceMs: number,
): Promise<Answer> {
  const url = new URL(`trpc/${name}`, base);
  const isQuery = contract.method === 'GET';
  const text = JSON.stringify(input);
  // A URL is logged on its way. What was pasted by mistake leaves this machine as the log would have it.
  const json = isQuery ? text.replace(credentialPattern, '[redacted]') : text;
  if (isQuery) url.searchParams.set('input', json);
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silenceMs);
  try {
    const response = await fetch(url, {
      method: isQuery ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${secret}`,
        ...(!isQuery && { 'content-type': 'application/json' }),
      },
      ...(!isQuery && { body: json }),
      // Followed, it could take the secret to another host.
      redirect: 'manual',
      signal: silence.signal,
    });
    timer.refresh();
    const decoder = new TextDecoder();
    let text = '';
    let bytes = 0;
    let values = 0;
    for await (const chunk of response.body ?? []) {
      timer.refresh();
      bytes += chunk.length;
      for (const byte of chunk) if (BEFORE_VALUE.has(byte)) values += 1;
      if (bytes > MOST_MIB * 2 ** 20 || values > MOST_VALUES) throw new TooLong();
      text += decoder.decode(chunk, { stream: true });
    }
    const { status, headers } = response;
    return { status, retryAfter: headers.get('retry-after'), body: parse(text, secret) };
  } catch (thrown) {
    throw noAnswer(thrown, base, contract, silence.signal.aborted ? silenceMs : null);
  } finally {
    clearTimeout(timer);
  }
}

class TooLong extends Error {}

/** In a text too, where it counts a little too much. */
const BEFORE_VALUE: ReadonlySet<number> = new Set(Buffer.from('[{,'));

/**
 * What is not an object becomes an empty one. No output shows the secret, even if a response does, and nothing that
 * a terminal would follow.
 */
function parse(text: string, secret: string): Members {
  try {
    // No object of Latchkey has what is escaped.
    const hide = (shown: string) => stillText(shown.replaceAll(secret, '[redacted]'));
    // A reviver would cost several times the memory of what it is given.
    const hidden = (value: unknown): unknown => {
      if (typeof value === 'string') return hide(value);
      if (Array.isArray(value)) return value.map(hidden);
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [hide(name), hidden(each)]),
      );
    };
    const body = hidden(decodeJson(text));
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** tRPC has both outcomes in `data` of a member. */
function memberOf(body: Members, half: 'result' | 'error'): Members {
  const part = body[half];
  return isObject(part) && isObject(part.data) ? part.data : {};
}

function failureOf(answer: Answer, base: URL, contract: OperationContract): Error {
  // At a path that is not tRPC's, the service sends the error without an envelope.
  const error = { ...answer.body, ...memberOf(answer.body, 'error') } as Members;
  const { error_code, request_id } = error;
  if (typeof error_code !== 'string' || !Object.hasOwn(errorTable, error_code)) {
    return notLatchkey(answer, base, contract);
  }
  const code = error_code as ErrorCode;
  const { status } = errorDefinition(code);
  if (status === 401) {
    return new Error(
      `${base.origin} does not accept the secret (${code}). Check LATCHKEY_ADMIN_SECRET or its file: it has to be this service's ADMIN_SECRET, or a key that was not deleted and has not expired.`,
    );
  }
  if (code === 'route_not_found') {
    if (contract.needsEvents) {
      return new Error(
        `${base.origin} does not offer this operation: events are off, because EVENTS_KEY is not set there. If it is set, check the path of --url.`,
      );
    }
    if (contract.needsDocuments) {
      return new Error(
        `${base.origin} does not offer this operation: client documents are off, because CLIENT_DOCUMENTS is off there. If it is on, check the path of --url.`,
      );
    }
    return new Error(
      contract.needsLinking
        ? `${base.origin} does not offer this operation: its linking flow is off, because SIGN_IN_URL is not set there. If it is set, check the path of --url.`
        : `This is Latchkey, but it does not offer this operation at ${base.pathname}. Check --url: the operator's operations are at ADMIN_PORT if it is set, and they need ADMIN_SECRET. A proxy has to remove the path of PUBLIC_URL that it adds.`,
    );
  }
  // Their texts for the command line speak of the database of this machine.
  if (status === 429 || code === 'store_unavailable' || code === 'store_full') {
    const again = /^\d+$/.test(answer.retryAfter ?? '')
      ? ` Run the command again in ${answer.retryAfter} s.`
      : '';
    return new Error(`${code}: ${errorDefinition(code).description}${again}`);
  }
  const cause =
    code === 'internal_error' && typeof request_id === 'string'
      ? new Error(`The log of the service has the cause under the request id ${request_id}.`)
      : undefined;
  return new DomainError(code, errorMembersOf(error), cause);
}

function errorMembersOf({ grant_id, issues, redirect_to }: Members): ErrorMembers {
  return {
    ...(typeof grant_id === 'string' && { grant_id }),
    ...(typeof redirect_to === 'string' && { redirect_to }),
    ...(Array.isArray(issues) && {
      issues: issues.filter(
        (issue) =>
          isObject(issue) &&
          Array.isArray(issue.path) &&
          issue.path.every((key) => typeof key === 'string' || typeof key === 'number') &&
          typeof issue.message === 'string',
      ),
    }),
  };
}

function notLatchkey({ status }: Answer, { origin }: URL, contract: OperationContract): Error {
  if (status >= 300 && status <= 399) {
    return new Error(
      `${origin} redirects (status ${status}). Redirects are not followed, because they could take the secret to another host. Give --url the address that it redirects to.`,
    );
  }
  const next =
    status === 429 || status >= 500
      ? 'A proxy in between probably sent it: try again in a few seconds, and check that the service runs.'
      : 'Check --url, and any proxy in between. A service of another version needs the command line of that version.';
  return new Error(
    `The response of ${origin} (status ${status}) is not one of Latchkey. ${next}${doubt(contract)}`,
  );
}

const doubt = (contract: OperationContract): string =>
  isRead(contract) ? '' : ' The change may have been made: look before you repeat the command.';

const NEVER_CONNECTED =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_TLS|^ERR_SSL|^EPROTO$/;

function noAnswer(
  thrown: unknown,
  { origin }: URL,
  contract: OperationContract,
  silenceMs: number | null,
): Error {
  if (silenceMs !== null) {
    return new Error(
      `${origin} sent nothing for ${silenceMs / 1000} s. Check that the service runs and is not overloaded.${doubt(contract)}`,
    );
  }
  if (thrown instanceof TooLong) {
    return new Error(
      `${origin} sent more than ${MOST_MIB} MiB, or than ${MOST_VALUES} values. Check --url. If this is the service, run the command on its database.${doubt(contract)}`,
    );
  }
  const code = codeOf(thrown);
  if (CERTIFICATE.test(code)) {
    return new Error(
      `No secure connection to ${origin} (${code}). Nothing was sent. Check the host and port of --url and the certificate there. If a certificate authority of your own signed it, name its file in NODE_EXTRA_CA_CERTS.`,
    );
  }
  if (NEVER_CONNECTED.test(code)) {
    return new Error(
      `No connection to ${origin} (${code}). Nothing was sent. Check --url, and that the service runs and can be reached from here.`,
    );
  }
  return new Error(
    `The connection to ${origin} ended before the response (${code}). Check --url, and run the command again.${doubt(contract)}`,
  );
}

/** Node has it in a cause, and in the first of several errors if a host has several addresses. */
function codeOf(thrown: unknown): string {
  for (let error = thrown; isObject(error); ) {
    if (typeof error.code === 'string') return error.code;
    error = error.cause ?? (Array.isArray(error.errors) ? error.errors[0] : undefined);
  }
  return 'no code';
}
