import { readFileSync } from 'node:fs';
import { BadSetting, wrappingFault } from '@latchkey/domain/bad-setting';
import { type DocumentHosts, parseDocumentHosts } from '@latchkey/rules/client-documents/hosts';
import {
  type ClientSchemes,
  parseClientSchemes,
} from '@latchkey/rules/client-documents/redirect-uris';
import type { EventsKeys } from '@latchkey/rules/events/endpoint-secret';
import { parseRateLimits, type RateLimits } from '@latchkey/rules/limits/rate-limit-setting';
import type { OutboundAllow } from '@latchkey/rules/outbound/destination';
import { percentDecode } from '@latchkey/rules/percent-decode';
import { parseRegistration, type RegistrationSetting } from '@latchkey/rules/registration/setting';
import { type Setting as SettingInForce, uris } from '@latchkey/schema';
import { z } from 'zod';
import { databaseUrlFault, IN_MEMORY_URL } from './database-url.ts';
import { type DemoConditions, isDemo } from './is-demo.ts';
import { BadTexts, parsePageTexts, type TextsByLanguage } from './page-texts/read-page-texts.ts';
import { readSecretFile } from './secret-file.ts';
import settings from './settings.json' with { type: 'json' };

export interface Settings {
  /** 0 takes a free port. */
  port: number;
  host: string;
  databaseUrl: string;
  /** Then the first start may make a demo. */
  databaseIsDefault: boolean;
  /** Null: the operator's routes do not exist. */
  adminSecret: string | null;
  /** For a change of `adminSecret` without downtime. */
  adminSecretPrevious: string | null;
  adminHost: string | null;
  /** For the operator's routes and the metrics; null serves them on `port`. */
  adminPort: number | null;
  /** Without a trailing slash; null takes it from the request. */
  publicUrl: string | null;
  logLevel: (typeof logLevels)[number];
  trustProxy: boolean;
  /** For new requests after SIGTERM. */
  drainSeconds: number;
  /** For running requests. */
  shutdownSeconds: number;
  /** `required` refuses changes while the log sink fails. */
  audit: 'best-effort' | 'required';
  auditDays: number;
  /** Days that a revoked grant keeps more than its ids and times; null keeps everything. */
  revokedGrantDays: number | null;
  /** Free room, in MiB, below which nothing new is kept; 0 for no bound. */
  minFreeMb: number;
  metrics: boolean;
  /** Null turns all limits off. */
  rateLimit: RateLimits | null;
  /** Null turns the linking flow off. */
  signInUrl: string | null;
  /** Whose documents are taken; null for nobody's. */
  clientDocuments: DocumentHosts | null;
  /** Whether clients register themselves, and which `https:` redirect URIs they may have; null: they don't. */
  clientRegistration: RegistrationSetting | null;
  /** Of the redirect URIs of strangers. */
  clientSchemes: ClientSchemes;
  /** What the secrets of endpoints are made of; null: there are no events. */
  eventsKey: string | null;
  /** For a change of `eventsKey`: it signs too. */
  eventsKeyPrevious: string | null;
  /** Where the service may connect to, besides what is globally reachable. */
  outboundAllow: OutboundAllow | null;
  pageName: string | null;
  pageLogo: string | null;
  pageHome: string | null;
  pageColor: string;
  pageTexts: TextsByLanguage;
  /** The others have their defaults. */
  given: ReadonlyMap<string, GivenSetting>;
  /** What no log may contain: what is secret, and what was before a SIGHUP. */
  secrets: Set<string>;
}

interface GivenSetting {
  source: 'environment' | 'file';
  /** Null for a setting that may be a secret. */
  text: string | null;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

export const DEFAULT_AUDIT_DAYS = 30;

// Room for the write-ahead log, and for what the database grows by until its operator makes room.
export const DEFAULT_MIN_FREE_MB = 64;

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

/** @param parse - returns undefined for what it cannot read */
const parsedBy = <Value>(parse: (text: string) => Value | undefined) =>
  z.string().transform((text, context): Value => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: 'not of this form' });
    return z.NEVER;
  });

type SettingName = keyof typeof settings;

const settingNames = Object.keys(settings) as SettingName[];

/** A setting with a `fileExample` can also be given as a file, in NAME_FILE. */
const examples: { readonly [Name in SettingName]: { example: string; fileExample?: string } } =
  settings;

interface Setting<Value, Default extends string | null = string | null> {
  schema: z.ZodType<Value, string>;
  fault: string;
  /** As an operator would write it. */
  default: Default;
  /** What it is if it is not set. */
  unset: Value | null;
}

// A placeholder, or a key that was held down, has fewer different characters.
const FEWEST_DIFFERENT_CHARACTERS = 8;

const strongSecret = z
  .string()
  .regex(/^[\x21-\x7e]{32,}$/)
  .refine((secret) => new Set(secret).size >= FEWEST_DIFFERENT_CHARACTERS);

const STRONG_SECRET_FAULT = `must be at least 32 printable ASCII characters without spaces, ${FEWEST_DIFFERENT_CHARACTERS} of them different`;

const hostName = z.string().regex(/^[A-Za-z0-9.:_-]+$/);

/** Without a default, a setting that is not set is null. */
function setting<Value, Default extends string | null = null>(
  schema: z.ZodType<Value, string>,
  fault: string,
  standard: Default = null as Default,
): Setting<Value, Default> {
  const unset = standard === null ? null : schema.parse(standard);
  return { schema, fault, default: standard, unset };
}

const signInUrl = uris.webUri.refine((url) => {
  const { query, fragment } = uris.splitUri(url) ?? {};
  // The flow adds its own `link`.
  return fragment === undefined && !new URLSearchParams(query).has('link');
});

const definitions = {
  PORT: setting(integer(0, 65_535), 'must be a whole number from 0 to 65535', '3000'),
  HOST: setting(hostName, 'must be a host name or an address', '127.0.0.1'),
  DATABASE_URL: setting(z.string(), 'must be the address of a database', 'file:./data/latchkey.db'),
  ADMIN_SECRET: setting(strongSecret, STRONG_SECRET_FAULT),
  ADMIN_SECRET_PREVIOUS: setting(strongSecret, STRONG_SECRET_FAULT),
  ADMIN_HOST: setting(hostName, 'must be a host name or an address'),
  ADMIN_PORT: setting(integer(0, 65_535), 'must be a whole number from 0 to 65535'),
  PUBLIC_URL: setting(
    z
      .url({ protocol: /^https?$/ })
      .regex(/^[^?#@]*$/)
      .transform((url) =>
        url.replace(/^https?/i, (scheme) => scheme.toLowerCase()).replace(/\/+$/, ''),
      ),
    'must be an http or https URL without user, query and fragment',
  ),
  LOG_LEVEL: setting(z.enum(logLevels), `must be one of ${logLevels.join(', ')}`, 'info'),
  TRUST_PROXY: setting(
    z.enum(['true', 'false']).transform((value) => value === 'true'),
    'must be true or false',
    'false',
  ),
  DRAIN_SECONDS: setting(integer(0, 3600), 'must be a whole number from 0 to 3600', '0'),
  SHUTDOWN_SECONDS: setting(integer(0, 3600), 'must be a whole number from 0 to 3600', '10'),
  AUDIT: setting(
    z.enum(['best-effort', 'required']),
    'must be best-effort or required',
    'best-effort',
  ),
  AUDIT_DAYS: setting(
    integer(0, 3650),
    'must be a whole number from 0 to 3650',
    `${DEFAULT_AUDIT_DAYS}`,
  ),
  // At least a day, so that a replay of a code is still recognised.
  REVOKED_GRANT_DAYS: setting(
    integer(1, 36_500),
    'must be a whole number from 1 to 36500, or not set to keep everything',
  ),
  MIN_FREE_MB: setting(
    integer(0, 1_048_576),
    'must be a whole number from 0 to 1048576',
    `${DEFAULT_MIN_FREE_MB}`,
  ),
  METRICS: setting(
    z.enum(['on', 'off']).transform((value) => value === 'on'),
    'must be on or off',
    'off',
  ),
  RATE_LIMIT: setting(
    parsedBy(parseRateLimits),
    'must be on, off or a list of NAME=COUNT/SECONDS, where NAME is authentications, exchanges, requests, links or links_total',
    'on',
  ),
  SIGN_IN_URL: setting(
    signInUrl,
    'must start with https:, or with http: on 127.0.0.1, [::1] or localhost, without user, fragment and a link in its query',
  ),
  CLIENT_DOCUMENTS: setting(
    parsedBy((text) => (text === 'off' ? null : (parseDocumentHosts(text) ?? undefined))),
    'must be off, any, or a list of hosts and https: addresses, each as the URL standard writes it, perhaps with ! before it, a host also with *.',
    'off',
  ),
  CLIENT_REGISTRATION: setting(
    parsedBy((text) => (text === 'off' ? null : parseRegistration(text))),
    'must be off, on, or a list of hosts with a dot and whole https: redirect URIs',
    'off',
  ),
  CLIENT_SCHEMES: setting(
    parsedBy(parseClientSchemes),
    'must be default, none, or a list of default and private-use schemes in lower case, each perhaps with ? behind it',
    'default',
  ),
  EVENTS_KEY: setting(strongSecret, STRONG_SECRET_FAULT),
  EVENTS_KEY_PREVIOUS: setting(strongSecret, STRONG_SECRET_FAULT),
  OUTBOUND_ALLOW: setting(
    z.enum(['private', 'http', 'private,http', 'http,private']).transform((text) => ({
      private: text.includes('private'),
      http: text.includes('http'),
    })),
    'must be private, http or private,http',
  ),
  PAGE_NAME: setting(
    z.string().regex(/^(?=.*\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,60}$/u),
    'must be 1 to 60 characters without control characters',
  ),
  PAGE_LOGO: setting(
    uris.logoUri,
    'must start with https: and have at most 500 characters, or with data:image/(png|webp|jpeg|gif|svg+xml);base64, and have at most 8192',
  ),
  PAGE_HOME: setting(
    uris.webUri,
    'must start with https:, or with http: on 127.0.0.1, [::1] or localhost, without user, and have at most 500 characters',
  ),
  PAGE_COLOR: setting(
    z
      .string()
      .regex(/^#[0-9a-f]{6}$/i)
      .toLowerCase(),
    'must be a colour as #rrggbb',
    '#0b62d6',
  ),
  PAGE_TEXTS: setting(z.string(), 'must be the path of a JSON file'),
} satisfies Record<SettingName, Setting<unknown>>;

type Definitions = typeof definitions;

type SettingOf<Name extends SettingName> =
  | z.output<Definitions[Name]['schema']>
  | (Definitions[Name]['default'] extends string ? never : null);

/** A setting that can be given as a file may be a secret. */
const isSecret = (name: SettingName) => examples[name].fileExample !== undefined;

function givenIn(environment: NodeJS.ProcessEnv): Map<string, GivenSetting> {
  const given = new Map<string, GivenSetting>();
  for (const name of settingNames) {
    if (isSet(environment, name, name)) {
      const text = isSecret(name) ? null : (environment[name] as string);
      given.set(name, { source: 'environment', text });
    } else if (isSecret(name) && isSet(environment, `${name}_FILE`, name)) {
      given.set(name, { source: 'file', text: null });
    }
  }
  return given;
}

interface Found {
  text: string;
  subject: string;
  example: string;
}

function find(environment: NodeJS.ProcessEnv, name: SettingName): Found | undefined {
  const { example, fileExample } = examples[name];
  const text = isSet(environment, name, name) ? environment[name] : undefined;
  const fileName = `${name}_FILE`;
  if (fileExample === undefined || !isSet(environment, fileName, name)) {
    return text === undefined ? undefined : { text, subject: name, example: `${name}=${example}` };
  }
  if (text !== undefined) {
    throw new BadSetting(
      `${name} and ${fileName} are both set. Unset one of them. Example: ${fileName}=${fileExample}`,
    );
  }
  const path = environment[fileName] as string;
  const file = { text: path, subject: fileName, example: `${fileName}=${fileExample}` };
  refuseWrapped(file);
  return {
    ...file,
    text: readSecret(fileName, path, fileExample),
    subject: `${fileName}: the value in the file`,
  };
}

/** Messages omit the value, which may be a secret. */
function refuse({ subject, example }: Found, fault: string): never {
  throw new BadSetting(`${subject} ${fault}. Example: ${example}`);
}

function refuseWrapped(found: Found): void {
  const fault = wrappingFault(found.text);
  if (fault === null) return;
  // The quotes are for a shell.
  refuse({ ...found, example: found.example.replace(/=(["'])(.*)\1$/, '=$2') }, fault);
}

/** Empty is not set, but an empty DATABASE_URL by mistake must not serve the demo database. */
function isSet(environment: NodeJS.ProcessEnv, variable: string, name: SettingName): boolean {
  const text = environment[variable];
  return text !== undefined && (text !== '' || name === 'DATABASE_URL');
}

function readSecret(variable: string, path: string, example: string): string {
  try {
    return readSecretFile(path);
  } catch (error) {
    // Without the path: it may be the secret itself, set here by mistake.
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new BadSetting(
      `${variable} must be the path of a file that this process can read (${code}). Example: ${variable}=${example}`,
    );
  }
}

function read<Name extends SettingName>(
  environment: NodeJS.ProcessEnv,
  name: Name,
): SettingOf<Name> {
  const { schema, fault, unset } = definitions[name];
  const found = find(environment, name);
  if (found === undefined) return unset as SettingOf<Name>;
  refuseWrapped(found);
  const { text, subject, example } = found;
  const url = name === 'DATABASE_URL' ? databaseUrlFault(text) : null;
  const result = schema.safeParse(text);
  if (result.success && url === null) return result.data as SettingOf<Name>;
  const isShown = subject === name && url?.meant != null;
  refuse(
    { text, subject, example: isShown ? `${name}=${url.meant}` : example },
    url?.fault ?? fault,
  );
}

function readAdmin(environment: NodeJS.ProcessEnv, host: string, port: number) {
  const adminSecret = read(environment, 'ADMIN_SECRET');
  const adminSecretPrevious = read(environment, 'ADMIN_SECRET_PREVIOUS');
  const adminHost = read(environment, 'ADMIN_HOST');
  const adminPort = read(environment, 'ADMIN_PORT');
  if (adminSecretPrevious !== null && adminSecret === null) {
    throw new BadSetting(
      'ADMIN_SECRET_PREVIOUS is set, but ADMIN_SECRET is not. Set both. Example: ADMIN_SECRET="$(openssl rand -hex 32)"',
    );
  }
  if (adminHost !== null && adminPort === null) {
    throw new BadSetting(
      'ADMIN_HOST is set, but ADMIN_PORT is not. Set both. Example: ADMIN_PORT=3001',
    );
  }
  if (port !== 0 && adminPort === port && (adminHost ?? host) === host) {
    throw new BadSetting(
      `ADMIN_PORT must be another port than PORT. Example: ADMIN_PORT=${port < 65_535 ? port + 1 : 3001}`,
    );
  }
  return { adminSecret, adminSecretPrevious, adminHost, adminPort };
}

function readEventsKeys(environment: NodeJS.ProcessEnv) {
  const eventsKey = read(environment, 'EVENTS_KEY');
  const eventsKeyPrevious = read(environment, 'EVENTS_KEY_PREVIOUS');
  if (eventsKeyPrevious !== null && eventsKey === null) {
    throw new BadSetting(
      `EVENTS_KEY_PREVIOUS is set, but EVENTS_KEY is not. Set both. Example: EVENTS_KEY=${examples.EVENTS_KEY.example}`,
    );
  }
  return { eventsKey, eventsKeyPrevious };
}

function readLinking(environment: NodeJS.ProcessEnv, others: DemoConditions) {
  const { adminSecret, publicUrl } = others;
  const signInUrl = read(environment, 'SIGN_IN_URL');
  if (signInUrl !== null) {
    // Without these, nobody could say who signed in, and no address of the flow would be certain.
    for (const [name, value] of [
      ['ADMIN_SECRET', adminSecret],
      ['PUBLIC_URL', publicUrl],
    ] as const) {
      if (value === null) {
        const { example } = examples[name];
        throw new BadSetting(
          `SIGN_IN_URL is set, but ${name} is not. Set both. Example: ${name}=${example}`,
        );
      }
    }
    if (!uris.webUri.safeParse(publicUrl).success) {
      throw new BadSetting(
        `PUBLIC_URL must start with https:, or with http: on 127.0.0.1, [::1] or localhost, because SIGN_IN_URL is set. Example: PUBLIC_URL=${examples.PUBLIC_URL.example}`,
      );
    }
  }
  const clientDocuments = read(environment, 'CLIENT_DOCUMENTS');
  const clientRegistration = read(environment, 'CLIENT_REGISTRATION');
  for (const [name, value] of [
    ['CLIENT_DOCUMENTS', clientDocuments],
    ['CLIENT_REGISTRATION', clientRegistration],
  ] as const) {
    if (value !== null && signInUrl === null && !isDemo(others)) {
      throw new BadSetting(
        `${name} is set, but SIGN_IN_URL is not. Set both. Example: SIGN_IN_URL=${examples.SIGN_IN_URL.example}`,
      );
    }
  }
  const pageTexts = read(environment, 'PAGE_TEXTS');
  return {
    signInUrl,
    clientDocuments,
    clientRegistration,
    clientSchemes: read(environment, 'CLIENT_SCHEMES'),
    pageName: read(environment, 'PAGE_NAME'),
    pageLogo: read(environment, 'PAGE_LOGO'),
    pageHome: read(environment, 'PAGE_HOME'),
    pageColor: read(environment, 'PAGE_COLOR'),
    pageTexts: pageTexts === null ? {} : readPageTexts(pageTexts),
  };
}

function readPageTexts(path: string): TextsByLanguage {
  const { fault } = definitions.PAGE_TEXTS;
  const { example } = examples.PAGE_TEXTS;
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new BadSetting(
      `PAGE_TEXTS ${fault} that this process can read (${code}). Example: PAGE_TEXTS=${example}`,
    );
  }
  try {
    return parsePageTexts(json);
  } catch (error) {
    if (!(error instanceof BadTexts)) throw error;
    throw new BadSetting(
      `PAGE_TEXTS: the file ${error.message}. To see every text, run: latchkey page texts`,
    );
  }
}

/** What the pages call the host service. */
export const pageNameOf = ({
  pageName,
  signInUrl,
}: {
  pageName: string | null;
  signInUrl: string;
}) => pageName ?? new URL(signInUrl).hostname;

/** @throws BadSetting for the first setting that cannot be used */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  const given = givenIn(environment);
  const databaseIsDefault = !given.has('DATABASE_URL');
  const databaseUrl = read(environment, 'DATABASE_URL');
  const { NODE_ENV = '' } = environment;
  refuseWrapped({ text: NODE_ENV, subject: 'NODE_ENV', example: 'NODE_ENV=production' });
  if (databaseIsDefault && NODE_ENV === 'production') {
    throw new BadSetting(
      `DATABASE_URL is not set, but NODE_ENV is production. Example: DATABASE_URL=${examples.DATABASE_URL.example}`,
    );
  }
  const logLevel = read(environment, 'LOG_LEVEL');
  const audit = read(environment, 'AUDIT');
  if (audit === 'required' && logLevel === 'silent') {
    throw new BadSetting(
      'AUDIT is required, but LOG_LEVEL=silent writes no audit line. Example: AUDIT=required LOG_LEVEL=fatal',
    );
  }
  const port = read(environment, 'PORT');
  const host = read(environment, 'HOST');
  const admin = readAdmin(environment, host, port);
  const publicUrl = read(environment, 'PUBLIC_URL');
  const trustProxy = read(environment, 'TRUST_PROXY');
  const eventsKeys = readEventsKeys(environment);
  return {
    port,
    host,
    databaseUrl,
    databaseIsDefault,
    ...admin,
    publicUrl,
    logLevel,
    trustProxy,
    drainSeconds: read(environment, 'DRAIN_SECONDS'),
    shutdownSeconds: read(environment, 'SHUTDOWN_SECONDS'),
    audit,
    auditDays: read(environment, 'AUDIT_DAYS'),
    revokedGrantDays: read(environment, 'REVOKED_GRANT_DAYS'),
    minFreeMb: read(environment, 'MIN_FREE_MB'),
    metrics: read(environment, 'METRICS'),
    rateLimit: read(environment, 'RATE_LIMIT'),
    ...eventsKeys,
    outboundAllow: read(environment, 'OUTBOUND_ALLOW'),
    ...readLinking(environment, { ...admin, databaseIsDefault, host, publicUrl, trustProxy }),
    given,
    secrets: new Set(secretsIn({ databaseUrl, ...admin, ...eventsKeys })),
  };
}

/**
 * Reads the files of the operator's secrets again, into the settings in use. A variable of the
 * environment is as it was at the start.
 *
 * @param admitKeys - throws if other keys of events can't be used
 * @returns the settings that have changed
 * @throws BadSetting if one can't be used; then nothing has changed
 */
export async function readSecretsAgain(
  settings: Settings,
  environment: NodeJS.ProcessEnv,
  admitKeys: (keys: EventsKeys) => Promise<void>,
): Promise<string[]> {
  const { adminSecret, adminSecretPrevious } = readAdmin(environment, settings.host, settings.port);
  const events = readEventsKeys(environment);
  if ((events.eventsKey === null) !== (settings.eventsKey === null)) {
    throw new BadSetting('EVENTS_KEY turns events on or off, which takes a restart.');
  }
  const secrets = {
    ADMIN_SECRET: { adminSecret },
    ADMIN_SECRET_PREVIOUS: { adminSecretPrevious },
    EVENTS_KEY: { eventsKey: events.eventsKey },
    EVENTS_KEY_PREVIOUS: { eventsKeyPrevious: events.eventsKeyPrevious },
  };
  const changed = Object.entries(secrets).flatMap(([name, secret]) =>
    Object.entries(secret).every(([key, value]) => settings[key as keyof Settings] === value)
      ? []
      : [name],
  );
  const { eventsKey: current, eventsKeyPrevious: previous } = events;
  if (current !== null && changed.some((name) => name.startsWith('EVENTS_KEY'))) {
    await admitKeys({ current, previous });
  }
  Object.assign(settings, ...Object.values(secrets));
  for (const secret of secretsIn(settings)) settings.secrets.add(secret);
  return changed;
}

/** With no part of a secret, in the order of `docs/operations/install.md`. */
export function settingsInForce(settings: Settings): SettingInForce[] {
  return settingNames.map((name) => ({
    name,
    value: shownValue(settings, name),
    source: settings.given.get(name)?.source ?? 'default',
  }));
}

function shownValue(settings: Settings, name: SettingName): string | null {
  if (name === 'DATABASE_URL') return withoutSecrets(settings.databaseUrl);
  if (isSecret(name)) return null;
  // The demo and the test server set some themselves.
  const value = settings[camelCase(name)];
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return settings.given.get(name)?.text ?? definitions[name].default;
}

const camelCase = (name: SettingName) =>
  name
    .toLowerCase()
    .replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Settings;

/** Without user, password and query. Nothing is left of a URL that the driver refuses. */
function withoutSecrets(databaseUrl: string): string {
  if (databaseUrl.startsWith('file:')) return databaseUrl;
  const [, scheme = '', rest = ''] = /^([a-z+]+:\/\/)(.*)$/s.exec(databaseUrl) ?? [];
  const at = rest.lastIndexOf('@');
  // The driver wants these escaped in a user and a password. Otherwise the @ may be in the query.
  if (/[/?#]/.test(rest.slice(0, at + 1))) return scheme;
  return scheme + rest.slice(at + 1).replace(/\?.*$/s, '');
}

// A shorter password would black out half of the log, and its gaps would reveal it.
const SHORTEST_REDACTED_PASSWORD = 8;

type SecretSettings = Pick<
  Settings,
  'adminSecret' | 'adminSecretPrevious' | 'eventsKey' | 'eventsKeyPrevious' | 'databaseUrl'
>;

function secretsIn(settings: SecretSettings): string[] {
  const { adminSecret, adminSecretPrevious, eventsKey, eventsKeyPrevious } = settings;
  const secrets = [adminSecret, adminSecretPrevious, eventsKey, eventsKeyPrevious];
  return [...passwordsOf(settings.databaseUrl), ...secrets.filter((secret) => secret !== null)];
}

/** The address as a whole, its part before the host, and the password alone. */
function passwordsOf(databaseUrl: string): string[] {
  const [, start] = /^([a-z+]+:\/\/.*@)/s.exec(databaseUrl) ?? [];
  if (start === undefined) return [];
  const [, encoded = ''] = /^[a-z+]+:\/\/[^@/]*?:([^@]+)@/.exec(start) ?? [];
  const passwords = [encoded, percentDecode(encoded)];
  return [
    ...[databaseUrl, start],
    ...passwords.filter((password) => password.length >= SHORTEST_REDACTED_PASSWORD),
  ];
}

/** A command would leave nothing in a database in memory. */
export function refuseInMemory({ databaseUrl }: Settings): void {
  if (databaseUrl !== IN_MEMORY_URL) return;
  throw new BadSetting(
    'DATABASE_URL file::memory: keeps nothing, so only serve can use it. Example: DATABASE_URL=file:./data/latchkey.db',
  );
}
