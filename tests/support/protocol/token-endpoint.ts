import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { crc32 } from 'node:zlib';

// A token endpoint in memory, written from docs/protocol alone: it imports nothing of Latchkey. It shows
// that the pages are enough.

export interface TokenEndpoint {
  publicUrl: string;
  now(): number;
  /** Without a secret: public. */
  applications: readonly { id: string; secret: string | null }[];
  /** Without a redirect URI or a challenge: not bound to one. */
  codes: readonly {
    code: string;
    application_id: string;
    scope: string;
    account: object;
    redirect_uri: string | null;
    code_challenge: string | null;
  }[];
}

type Application = TokenEndpoint['applications'][number];
type Members = Readonly<Record<string, unknown>>;
type Headers = Record<string, string>;

const ERRORS = {
  route_not_found: [404, 'invalid_request'],
  method_not_allowed: [405, 'invalid_request'],
  credentials_missing: [401, 'invalid_client'],
  credentials_invalid: [401, 'invalid_client'],
  media_type_unsupported: [415, 'invalid_request'],
  body_too_large: [413, 'invalid_request'],
  body_malformed: [400, 'invalid_request'],
  parameter_invalid: [400, 'invalid_request'],
  grant_type_unsupported: [400, 'unsupported_grant_type'],
  code_not_found: [400, 'invalid_grant'],
  code_expired: [400, 'invalid_grant'],
  redirect_uri_mismatch: [400, 'invalid_grant'],
  code_verifier_mismatch: [400, 'invalid_grant'],
  code_already_used: [400, 'invalid_grant'],
} as const;

class Refusal extends Error {
  readonly code: keyof typeof ERRORS;
  readonly more: { members?: object; headers?: Headers; status?: number };

  constructor(code: Refusal['code'], more: Refusal['more'] = {}) {
    super(code);
    this.code = code;
    this.more = more;
  }
}

const invalid = (name: string, message: string) =>
  new Refusal('parameter_invalid', { members: { issues: [{ path: [name], message }] } });

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function toBase62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text;
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return toBase62(bytes, 6);
}

function makeCredential(prefix: string, id: string): string {
  const payload = Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), randomBytes(32)]);
  const text = `${prefix}_${toBase62(payload, 65)}`;
  return text + checksum(text);
}

/** The id inside a credential; null if it is ill-formed. */
function idIn(prefix: string, credential: string): string | null {
  const [, payload = ''] =
    new RegExp(`^${prefix}_([0-9A-Za-z]{65})[0-9A-Za-z]{6}$`).exec(credential) ?? [];
  if (payload === '' || checksum(credential.slice(0, -6)) !== credential.slice(-6)) return null;
  let number = 0n;
  for (const digit of payload) number = number * 62n + BigInt(DIGITS.indexOf(digit));
  const hex = number.toString(16).padStart(96, '0');
  if (hex.length > 96) return null;
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const FORM = 'application/x-www-form-urlencoded';
const MAX_BODY = 16 * 1024;

async function readBody(request: IncomingMessage, type: string): Promise<Buffer> {
  const given = (request.headers['content-type'] ?? '').toLowerCase();
  const isOfType = given.split(';')[0]?.trim() === type && !/charset="?(?!utf-?8)/.test(given);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (!isOfType || encoding !== 'identity') throw new Refusal('media_type_unsupported');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY) throw new Refusal('body_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function orMalformed<Value>(read: () => Value): Value {
  try {
    return read();
  } catch {
    throw new Refusal('body_malformed');
  }
}

const decodeUtf8 = (bytes: Buffer) =>
  orMalformed(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));

function parseJson(bytes: Buffer): Members {
  const value: unknown = orMalformed(() => JSON.parse(decodeUtf8(bytes)));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new Refusal('body_malformed');
}

type Form = ReadonlyMap<string, readonly string[]>;

function parseForm(bytes: Buffer): Form {
  const form = new Map<string, string[]>();
  const decode = (text: string) => orMalformed(() => decodeURIComponent(text.replaceAll('+', ' ')));
  for (const pair of decodeUtf8(bytes).split('&')) {
    const [name = '', value = ''] = pair.split(/=(.*)/s).map(decode);
    if (value !== '') form.set(name, [...(form.get(name) ?? []), value]);
  }
  return form;
}

function once(form: Form, names: readonly string[]): Members {
  const repeated = names.find((name) => (form.get(name)?.length ?? 0) > 1);
  if (repeated !== undefined) throw invalid(repeated, 'Must be given only once.');
  return Object.fromEntries(
    names.flatMap((name) => (form.get(name) ?? []).map((one) => [name, one])),
  );
}

const CLIENT = ['client_id', 'client_secret'];
const PARAMETERS = [...CLIENT, 'grant_type', 'code', 'redirect_uri', 'code_verifier'];

export function createTokenEndpoint({
  publicUrl,
  now,
  applications,
  codes,
}: TokenEndpoint): Server {
  const converted = new Set<string>();

  function findClient(
    client_id: string | null,
    secret: string | null,
    asInvalid: Refusal,
  ): Application {
    const own = secret === null ? client_id : idIn('lk_app', secret);
    const isSame = client_id === null || client_id.toLowerCase() === own?.toLowerCase();
    const found = applications.find(({ id }) => id === own?.toLowerCase());
    if (!isSame || found === undefined || found.secret !== secret) throw asInvalid;
    return found;
  }

  function readHeader(header: string): Application {
    const isBasic = /^basic\b/i.test(header);
    const challenge = isBasic
      ? 'Basic realm="latchkey"'
      : 'Bearer realm="latchkey", error="invalid_token"';
    const asInvalid = new Refusal('credentials_invalid', {
      headers: { 'WWW-Authenticate': challenge },
    });
    const [, value] = /^(?:bearer|basic) +(\S+) *$/i.exec(header) ?? [];
    if (value === undefined) throw asInvalid;
    if (!isBasic) return findClient(null, value, asInvalid);
    const [id = '', secret = ''] = Buffer.from(value, 'base64').toString().split(/:(.*)/s);
    try {
      return findClient(decodeURIComponent(id), decodeURIComponent(secret) || null, asInvalid);
    } catch {
      throw asInvalid;
    }
  }

  async function authenticate(request: IncomingMessage): Promise<[Application, Members]> {
    const { authorization } = request.headers;
    const isForm = (request.headers['content-type'] ?? '').toLowerCase().startsWith(FORM);
    const missing = new Refusal('credentials_missing', {
      headers: { 'WWW-Authenticate': 'Basic realm="latchkey"' },
    });
    if (authorization === undefined) {
      if (!isForm) throw missing;
      const form = parseForm(await readBody(request, FORM));
      const { client_id, client_secret } = once(form, CLIENT) as Record<string, string | undefined>;
      if (client_id === undefined && client_secret === undefined) throw missing;
      // There is no challenge for a form.
      const asInvalid = new Refusal('credentials_invalid', { status: 400 });
      const client = findClient(client_id ?? '', client_secret ?? null, asInvalid);
      return [client, once(form, PARAMETERS)];
    }
    const client = readHeader(authorization);
    const members = isForm
      ? once(parseForm(await readBody(request, FORM)), PARAMETERS)
      : parseJson(await readBody(request, 'application/json'));
    const { client_id, client_secret } = members;
    if (client_id !== undefined && String(client_id).toLowerCase() !== client.id) {
      throw invalid('client_id', 'Must be the client of the header.');
    }
    if (client_secret !== undefined) throw invalid('client_secret', 'Must be left out.');
    return [client, members];
  }

  function redeem(client: Application, { code, redirect_uri, code_verifier }: Members): object {
    const grant_id = idIn('lk_code', code as string);
    if (grant_id?.[14] !== '7') throw new Refusal('code_not_found');
    const issuedAt = Number.parseInt(grant_id.replaceAll('-', '').slice(0, 12), 16);
    if (issuedAt > now() + 60_000) throw new Refusal('code_not_found');
    const isOld = now() >= issuedAt + 300_000;
    const found = codes.find((one) => one.code === code && one.application_id === client.id);
    if (found === undefined) throw new Refusal(isOld ? 'code_expired' : 'code_not_found');
    const isConverted = converted.has(grant_id);
    if (isOld && !isConverted) throw new Refusal('code_expired');

    const needsUri = redirect_uri !== undefined || found.code_challenge === null;
    if (found.redirect_uri !== null && needsUri && redirect_uri !== found.redirect_uri) {
      throw new Refusal('redirect_uri_mismatch');
    }
    const challenge =
      code_verifier === undefined
        ? null
        : createHash('sha256').update(String(code_verifier)).digest('base64url');
    if (challenge !== found.code_challenge) throw new Refusal('code_verifier_mismatch');
    if (isConverted) throw new Refusal('code_already_used', { members: { grant_id } });

    // One thread and no wait since the look-up: exactly one call comes here.
    converted.add(grant_id);
    const created_at = new Date(now()).toISOString().replace('Z', '+00:00');
    const { scope, account } = found;
    const grant_secret = makeCredential('lk_grant', grant_id);
    const head = { object: 'oauth_grant', grant_id, created_at, scope };
    const grant = { ...head, grant_secret, revoked: false, account };
    return { access_token: grant_secret, token_type: 'Bearer', scope, grant };
  }

  async function convert(request: IncomingMessage): Promise<object> {
    const [client, members] = await authenticate(request);
    const { grant_type, code, redirect_uri, code_verifier } = members;
    if (typeof grant_type !== 'string' || grant_type === '') {
      throw invalid('grant_type', 'Must be authorization_code.');
    }
    if (grant_type !== 'authorization_code') throw new Refusal('grant_type_unsupported');
    if (typeof code !== 'string' || code === '') throw invalid('code', 'Must be a code.');
    for (const [name, value] of Object.entries({ redirect_uri, code_verifier })) {
      if (value !== undefined && typeof value !== 'string') throw invalid(name, 'Must be a text.');
    }
    if (code_verifier !== undefined && !/^[A-Za-z0-9._~-]{43,128}$/.test(String(code_verifier))) {
      throw invalid('code_verifier', 'Must be 43 to 128 characters.');
    }
    return redeem(client, members);
  }

  return createServer(async (request, response) => {
    const given = String(request.headers['x-request-id'] ?? '');
    const request_id = /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID();
    const headers: Headers = {
      'Content-Type': 'application/json; charset=UTF-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': request_id,
    };
    try {
      if (request.url?.split('?')[0] !== '/oauth/token') throw new Refusal('route_not_found');
      if (request.method !== 'POST') {
        throw new Refusal('method_not_allowed', { headers: { Allow: 'POST' } });
      }
      headers.Pragma = 'no-cache';
      const body = await convert(request);
      response.writeHead(200, headers).end(JSON.stringify(body));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const [status, word] = ERRORS[error.code];
      const body = {
        error: word,
        error_description: 'See error_uri.',
        error_code: error.code,
        error_uri: `${publicUrl}/docs/errors#${error.code}`,
        request_id,
        ...error.more.members,
      };
      response
        .writeHead(error.more.status ?? status, { ...headers, ...error.more.headers })
        .end(JSON.stringify(body));
    }
  });
}
