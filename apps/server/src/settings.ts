import { z } from 'zod';
import { DEFAULT_AUDIT_DAYS } from './audit/refusal-keeper.ts';
import {
  defaultRateLimits,
  parseRateLimits,
  type RateLimits,
} from './limits/rate-limit-setting.ts';

/** What an operator can set, read from the environment. */
export interface Settings {
  /** TCP port; 0 takes a free one. Default 3000. */
  port: number;
  /** Address to listen on. Default 127.0.0.1. */
  host: string;
  databaseUrl: string;
  /** Whether DATABASE_URL was left at its default: then a first start sets up a demo. */
  databaseIsDefault: boolean;
  /** Opens the operator's routes; null leaves them out. */
  adminSecret: string | null;
  /** Base of the links in answers, without a slash at its end; null takes it from the request. */
  publicUrl: string | null;
  logLevel: (typeof logLevels)[number];
  /** Whether X-Forwarded-* headers come from a proxy of the operator's own. */
  trustProxy: boolean;
  /** How long a shutdown waits for requests that are under way, in seconds. */
  shutdownSeconds: number;
  /** How long refusals are kept to be explained, in days; 0 keeps none. Default 30. */
  auditDays: number;
  /** Whether there is a route for Prometheus. */
  metrics: boolean;
  /** Null for none. */
  rateLimit: RateLimits | null;
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const DEFAULT_DATABASE_URL = 'file:./data/latchkey.db';

/** A whole number within a range. */
const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.number().min(min).max(max));

const rateLimits = z.string().transform((text, context) => {
  const limits = parseRateLimits(text);
  if (limits !== undefined) return limits;
  context.addIssue({ code: 'custom', message: 'not a list of limits' });
  return z.NEVER;
});

/** A setting: how it is read, and what its reader is told. */
interface Setting<Value> {
  schema: z.ZodType<Value, string>;
  fault: string;
  example: string;
}

const setting = <Value>(schema: z.ZodType<Value, string>, fault: string, example: string) =>
  ({ schema, fault, example }) satisfies Setting<Value>;

const definitions = {
  PORT: setting(integer(0, 65_535), 'is not a whole number from 0 to 65535', '3000'),
  HOST: setting(z.string().regex(/^[A-Za-z0-9.:_-]+$/), 'is not a host name or address', '0.0.0.0'),
  DATABASE_URL: setting(
    z.string().regex(/^(?:file:.|mongodb(?:\+srv)?:\/\/.)/),
    'starts with none of file:, mongodb:// and mongodb+srv://',
    'mongodb://127.0.0.1:27017/latchkey',
  ),
  ADMIN_SECRET: setting(
    z.string().regex(/^[\x21-\x7e]{32,}$/),
    'is not at least 32 printable ASCII characters without spaces',
    '"$(openssl rand -hex 32)"',
  ),
  PUBLIC_URL: setting(
    z
      .url({ protocol: /^https?$/ })
      .regex(/^[^?#@]*$/)
      .transform((url) => url.replace(/\/+$/, '')),
    'is not an http or https URL without user, query and fragment',
    'https://link.example.com',
  ),
  LOG_LEVEL: setting(z.enum(logLevels), `is none of ${logLevels.join(', ')}`, 'info'),
  TRUST_PROXY: setting(
    z.enum(['true', 'false']).transform((value) => value === 'true'),
    'is neither true nor false',
    'true',
  ),
  SHUTDOWN_SECONDS: setting(integer(0, 3600), 'is not a whole number from 0 to 3600', '10'),
  AUDIT_DAYS: setting(integer(0, 3650), 'is not a whole number from 0 to 3650', '30'),
  METRICS: setting(
    z.enum(['on', 'off']).transform((value) => value === 'on'),
    'is neither on nor off',
    'on',
  ),
  RATE_LIMIT: setting(
    rateLimits,
    'is neither on nor off nor limits as count/seconds, of authentications, exchanges and requests',
    'authentications=100/60,exchanges=100/60,requests=10000/60',
  ),
};

/** A setting that can't be used. The message is one line for the operator. */
export class BadSetting extends Error {
  override readonly name = 'BadSetting';
}

/** Reads one setting; an empty one counts as not set. The value itself, maybe secret, is not told. */
function read<Name extends keyof typeof definitions>(
  environment: NodeJS.ProcessEnv,
  name: Name,
): z.output<(typeof definitions)[Name]['schema']> | undefined {
  const { schema, fault, example } = definitions[name];
  const text = environment[name];
  if (text === undefined || text === '') return undefined;
  const result = schema.safeParse(text);
  if (!result.success) throw new BadSetting(`${name} ${fault}. Example: ${name}=${example}`);
  return result.data as z.output<(typeof definitions)[Name]['schema']>;
}

/**
 * Reads the settings.
 *
 * @throws BadSetting for the first one that can't be used
 */
export function loadSettings(environment: NodeJS.ProcessEnv): Settings {
  const databaseUrl = read(environment, 'DATABASE_URL');
  const rateLimit = read(environment, 'RATE_LIMIT');
  return {
    port: read(environment, 'PORT') ?? 3000,
    host: read(environment, 'HOST') ?? '127.0.0.1',
    databaseUrl: databaseUrl ?? DEFAULT_DATABASE_URL,
    databaseIsDefault: databaseUrl === undefined,
    adminSecret: read(environment, 'ADMIN_SECRET') ?? null,
    publicUrl: read(environment, 'PUBLIC_URL') ?? null,
    logLevel: read(environment, 'LOG_LEVEL') ?? 'info',
    trustProxy: read(environment, 'TRUST_PROXY') ?? false,
    shutdownSeconds: read(environment, 'SHUTDOWN_SECONDS') ?? 10,
    auditDays: read(environment, 'AUDIT_DAYS') ?? DEFAULT_AUDIT_DAYS,
    metrics: read(environment, 'METRICS') ?? false,
    rateLimit: rateLimit === undefined ? defaultRateLimits : rateLimit,
  };
}
