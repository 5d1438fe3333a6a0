import { environmentVariable } from '../environment.ts';
import { LatchkeyConfigError } from '../errors.ts';
import type { ConnectionOptions } from '../options.ts';
import { refuseUnknownOptions } from '../unknown-options.ts';

/**
 * Options of the {@link LatchkeyAdmin} constructor. An option that is undefined has its default. An
 * option that does not exist is refused.
 */
export interface LatchkeyAdminOptions extends ConnectionOptions {
  /**
   * A key of the operator, `lk_key_…`, which allows what its role does, or the ADMIN_SECRET of the
   * service, which allows everything. Keep it on your own servers. Default: the environment variable
   * `LATCHKEY_ADMIN_SECRET`, if the runtime has `process.env`. Without either, the constructor throws.
   */
  adminSecret?: string | undefined;
}

// Because of `Record`, an option that is missing here does not compile.
const adminOptions: Record<keyof LatchkeyAdminOptions, true> = {
  baseUrl: true,
  adminSecret: true,
  allowHttp: true,
  timeoutMs: true,
  maxRetries: true,
  fetch: true,
  logger: true,
  userAgent: true,
  dangerouslyAllowBrowser: true,
};

/** Refuses options of the constructor that do not exist. */
export const checkAdminOptions = (options: LatchkeyAdminOptions): void =>
  refuseUnknownOptions('new LatchkeyAdmin', options, Object.keys(adminOptions));

/** The operator's secret, which fits into a header. The message does not repeat it. */
export function checkAdminSecret(
  secret: unknown = environmentVariable('LATCHKEY_ADMIN_SECRET'),
): string {
  if (typeof secret !== 'string' || secret === '') {
    throw new LatchkeyConfigError(
      'adminSecret is missing. Pass a key (lk_key_…) or the ADMIN_SECRET of the service, or set the environment variable LATCHKEY_ADMIN_SECRET.',
    );
  }
  if (/^[\x21-\x7e]{32,}$/.test(secret)) return secret;
  throw new LatchkeyConfigError(
    'adminSecret must be a key (lk_key_…) or the ADMIN_SECRET of the service: at least 32 printable ASCII characters without spaces. Copy the whole secret, without quotes and line breaks.',
  );
}
