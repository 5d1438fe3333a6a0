import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';

// A token endpoint in memory, by somebody who had seen docs/protocol and nothing else of Latchkey. It was
// cut to /oauth/token without limits, and follows what the pages have corrected since.

interface Code {
  code: string;
  application_id: string;
  scope: string;
  account: object;
  /** Null: not bound to one. */
  redirect_uri: string | null;
  code_challenge: string | null;
}

interface Application {
  id: string;
  /** Null: a public application. */
  secret: string | null;
}

type Grant = Code & { created_at?: number };
type Fields = Record<string, unknown>;
type Body = { fields: Fields; repeated: string[] };
type Headers = Record<string, string>;
type Text = string | undefined;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
const same = (a: string, b: string): boolean => timingSafeEqual(sha256(a), sha256(b));

function base62(number: bigint, width: number): string {
  let text = '';
  for (let rest = number; rest > 0n; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(width, '0');
}

const checksum = (text: string): string => base62(BigInt(crc32(text)), 6);

function makeCredential(prefix: string, id: string): string {
  const bytes = id.replaceAll('-', '') + randomBytes(32).toString('hex');
  const text = `${prefix}_${base62(BigInt(`0x${bytes}`), 65)}`;
  return text + checksum(text);
}

/** The id inside a credential. */
function readCredential(prefix: string, text: string): string | undefined {
  const match = /^(lk_[a-z]+)_([0-9A-Za-z]{65})([0-9A-Za-z]{6})$/.exec(text);
  if (match?.[1] !== prefix || checksum(text.slice(0, -6)) !== match[3]) return undefined;
  const digits = [...(match[2] as string)];
  const value = digits.reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
  const hex = value.toString(16).padStart(96, '0');
  if (hex.length > 96) return undefined;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}

const ERRORS = {
  credentials_missing: [401, 'invalid_client'],
  credentials_invalid: [401, 'invalid_client'],
  body_malformed: [400, 'invalid_request'],
  parameter_invalid: [400, 'invalid_request'],
  media_type_unsupported: [415, 'invalid_request'],
  body_too_large: [413, 'invalid_request'],
  route_not_found: [404, 'invalid_request'],
  method_not_allowed: [405, 'invalid_request'],
  code_not_found: [400, 'invalid_grant'],
  code_expired: [400, 'invalid_grant'],
  code_already_used: [400, 'invalid_grant'],
  redirect_uri_mismatch: [400, 'invalid_grant'],
  code_verifier_mismatch: [400, 'invalid_grant'],
  grant_type_unsupported: [400, 'unsupported_grant_type'],
  internal_error: [500, 'server_error'],
} as const satisfies Record<string, [number, string]>;

type ErrorCode = keyof typeof ERRORS;

class Refusal extends Error {
  declare readonly code: ErrorCode;
  declare readonly members: object;
  declare readonly headers: Headers;
  declare readonly status: number;

  constructor(code: ErrorCode, members = {}, headers: Headers = {}, status?: number) {
    super(code);
    Object.assign(this, { code, members, headers, status: status ?? ERRORS[code][0] });
  }
}

/** What the function returns, or the refusal if it throws. */
function attempt<T>(make: () => T, refusal: Refusal): T {
  try {
    return make();
  } catch {
    throw refusal;
  }
}

function refuse(names: string[], message: string): void {
  const issues = names.map((name) => ({ path: [name], message }));
  if (issues.length > 0) throw new Refusal('parameter_invalid', { issues });
}

const MAX_BODY_BYTES = 16 * 1024;

async function readBody(req: IncomingMessage): Promise<string> {
  const large = new Refusal('body_too_large', {}, { Connection: 'close' });
  if (Number(req.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw large;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw large;
  }
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(Buffer.concat(chunks)), new Refusal('body_malformed'));
}

const FORM = 'application/x-www-form-urlencoded';
const contentType = (req: IncomingMessage): string => req.headers['content-type'] ?? '';
const mediaType = (req: IncomingMessage): string =>
  (contentType(req).split(';')[0] ?? '').trim().toLowerCase();

function checkMediaType(req: IncomingMessage): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)"?/i.exec(contentType(req))?.[1] ?? 'utf-8';
  const encoding = req.headers['content-encoding'] ?? 'identity';
  const isPlain = /^utf-?8$/i.test(charset) && /^identity$/i.test(encoding);
  const fine = isPlain && ['application/json', FORM].includes(mediaType(req));
  if (!fine) throw new Refusal('media_type_unsupported');
}

const CREDENTIALS = ['client_id', 'client_secret'];
const KNOWN = [...CREDENTIALS, 'grant_type', 'code', 'redirect_uri', 'code_verifier'];

function parseForm(body: string): Body {
  const fields: Fields = {};
  const repeated = new Set<string>();
  for (const pair of body.split('&')) {
    const at = pair.includes('=') ? pair.indexOf('=') : pair.length;
    const parts = [pair.slice(0, at), pair.slice(at + 1)].map((part) => part.replaceAll('+', ' '));
    const decode = () => parts.map(decodeURIComponent);
    const [name = '', value = ''] = attempt(decode, new Refusal('body_malformed'));
    if (!KNOWN.includes(name) || value === '') continue;
    if (name in fields) repeated.add(name);
    fields[name] = value;
  }
  return { fields, repeated: [...repeated] };
}

function parseJson(body: string): Body {
  const value: unknown = attempt(() => JSON.parse(body), new Refusal('body_malformed'));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) throw new Refusal('body_malformed');
  return { fields: { ...value }, repeated: [] };
}

/** The name of a member that has to be a text, if it was sent and is none. */
function wrong(fields: Fields, name: string, required: boolean, pattern = /^/): string[] {
  const value = fields[name];
  if (value === undefined && !required) return [];
  return typeof value === 'string' && pattern.test(value) ? [] : [name];
}

const ONCE = 'Must be given only once.';
const BASIC = 'Basic realm="latchkey"';

export function createTokenEndpoint(options: {
  applications: readonly Application[];
  codes: readonly Code[];
  now: () => number;
  publicUrl: string;
}): Server {
  const applications = new Map(options.applications.map((one) => [one.id, one]));
  const records = new Map<string | undefined, Grant>(
    options.codes.map((one) => [readCredential('lk_code', one.code), { ...one }]),
  );

  /** The application of these credentials. `clientId` is undefined only with Bearer. */
  function authenticate(clientId: Text, secret: Text, bad: Refusal): Application {
    let id = clientId?.toLowerCase();
    if (secret !== undefined) {
      const inside = readCredential('lk_app', secret);
      if (inside === undefined || (id !== undefined && id !== inside)) throw bad;
      id = inside;
    }
    const application = applications.get(id ?? '');
    const own = application?.secret ?? null;
    const known = own === null ? secret === undefined : same(own, secret ?? '');
    if (application === undefined || !known) throw bad;
    return application;
  }

  function byHeader(values: string[]): Application {
    const [header = ''] = values;
    const basic = /^basic( |$)/i.test(header);
    const challenge = basic ? BASIC : 'Bearer realm="latchkey", error="invalid_token"';
    const bad = new Refusal('credentials_invalid', {}, { 'WWW-Authenticate': challenge });
    const credential = /^(?:basic|bearer) +(\S+)$/i.exec(header)?.[1];
    if (credential === undefined || values.length > 1) throw bad;
    if (!basic) return authenticate(undefined, credential, bad);
    const pair = /^([^:]*):(.*)$/s.exec(Buffer.from(credential, 'base64').toString());
    if (pair === null) throw bad;
    const [id = '', secret] = attempt(() => pair.slice(1).map(decodeURIComponent), bad);
    return authenticate(id, secret === '' ? undefined : secret, bad);
  }

  function byForm({ client_id: id, client_secret: secret }: Fields): Application {
    if (id === undefined && secret === undefined) {
      throw new Refusal('credentials_missing', {}, { 'WWW-Authenticate': BASIC });
    }
    const bad = new Refusal('credentials_invalid', {}, {}, 400);
    return authenticate((id ?? '') as string, secret as string | undefined, bad);
  }

  function redeem(application: Application, fields: Fields): object {
    const { code = '', redirect_uri: uri, code_verifier } = fields as Record<string, string>;
    const verifier = code_verifier as string | undefined;
    const now = options.now();
    const grant_id = readCredential('lk_code', code);
    if (grant_id?.[14] !== '7') throw new Refusal('code_not_found');
    const issued = Number.parseInt(grant_id.replace('-', '').slice(0, 12), 16);
    if (issued > now + 60_000) throw new Refusal('code_not_found');
    const record = records.get(grant_id);
    const isOwn = record?.application_id === application.id && same(record.code, code);
    const found = isOwn ? record : undefined;
    const converted = found?.created_at !== undefined;
    if (now >= issued + 300_000 && !converted) throw new Refusal('code_expired');
    if (found === undefined) throw new Refusal('code_not_found');
    const differs = uri === undefined ? found.code_challenge === null : uri !== found.redirect_uri;
    if (found.redirect_uri !== null && differs) throw new Refusal('redirect_uri_mismatch');
    const challenge = verifier === undefined ? null : sha256(verifier).toString('base64url');
    if (challenge !== found.code_challenge) throw new Refusal('code_verifier_mismatch');
    if (converted) throw new Refusal('code_already_used', { grant_id });
    // No await since the look-up: of all calls with one code, exactly one gets here.
    found.created_at = now;
    const { scope, account } = found;
    const grant_secret = makeCredential('lk_grant', grant_id);
    const created_at = new Date(now).toISOString().replace('Z', '+00:00');
    const head = { object: 'oauth_grant', grant_id, created_at, scope };
    const grant = { ...head, grant_secret, revoked: false, account };
    return { access_token: grant_secret, token_type: 'Bearer', scope, grant };
  }

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<object> {
    if (req.url?.split('?')[0] !== '/oauth/token') throw new Refusal('route_not_found');
    if (req.method !== 'POST') throw new Refusal('method_not_allowed', {}, { Allow: 'POST' });
    res.setHeader('Pragma', 'no-cache');
    const header = req.headersDistinct.authorization;
    const form = mediaType(req) === FORM;
    if (header !== undefined) byHeader(header);
    else if (!form) throw byForm({});
    checkMediaType(req);
    const body = await readBody(req);
    const { fields, repeated } = form ? parseForm(body) : parseJson(body);
    const isCredential = (name: string): boolean => CREDENTIALS.includes(name);
    if (header === undefined) refuse(repeated.filter(isCredential), ONCE);
    const application = header === undefined ? byForm(fields) : byHeader(header);
    refuse(repeated, ONCE);
    const isSame = String(fields.client_id).toLowerCase() === application.id;
    const sent = CREDENTIALS.filter((name) => name in fields);
    const others = sent.filter((name) => !(isSame && name === 'client_id'));
    if (header !== undefined) refuse(others, 'Must be left out with an Authorization header.');
    const { grant_type } = fields;
    const isGiven = typeof grant_type === 'string' && grant_type !== '';
    refuse(isGiven ? [] : ['grant_type'], 'Must be authorization_code.');
    if (grant_type !== 'authorization_code') throw new Refusal('grant_type_unsupported');
    const faults = [
      ...wrong(fields, 'code', true, /./s),
      ...wrong(fields, 'redirect_uri', false),
      ...wrong(fields, 'code_verifier', false, /^[\w.~-]{43,128}$/),
    ];
    refuse(faults, 'Must be a well-formed text.');
    return redeem(application, fields);
  }

  return createServer(async (req, res) => {
    const asked = req.headers['x-request-id'];
    const isGood = typeof asked === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(asked);
    const request_id = isGood ? asked : randomUUID();
    let status = 200;
    let body: object;
    try {
      body = await answer(req, res);
    } catch (thrown) {
      const refusal = thrown instanceof Refusal ? thrown : new Refusal('internal_error');
      const { code: error_code, members } = refusal;
      status = refusal.status;
      for (const [name, value] of Object.entries(refusal.headers)) res.setHeader(name, value);
      const error_uri = `${options.publicUrl}/docs/errors#${error_code}`;
      const texts = { error: ERRORS[error_code][1], error_description: 'See error_uri.' };
      body = { ...texts, error_code, error_uri, request_id, ...members };
    }
    const type = 'application/json; charset=UTF-8';
    const headers = { 'Content-Type': type, 'Cache-Control': 'no-store' };
    res.writeHead(status, { ...headers, 'X-Request-Id': request_id }).end(JSON.stringify(body));
  });
}
