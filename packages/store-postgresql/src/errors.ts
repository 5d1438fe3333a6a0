import { BadSetting } from '@latchkey/domain/bad-setting';
import { DomainError } from '@latchkey/domain/domain-error';

/** Waiting does not help: at the start, these are settings to correct. */
const corrections: Readonly<Record<string, string>> = {
  '28000': 'look at pg_hba.conf of the server',
  '28P01': 'correct the user or the password',
  '3D000': 'create the database',
  '3F000': 'create the schema, or correct search_path of the user',
  '42501': 'grant the user the rights in docs/operations/postgresql.md',
};

/** Codes of Node for a certificate of the server. */
const ofCertificate = /^ERR_TLS_|CERT|SIGNATURE/;

const correctionOf = (code: string): string | undefined =>
  corrections[code] ?? (ofCertificate.test(code) ? 'correct the host, or sslrootcert' : undefined);

const remedies: Readonly<Record<string, string>> = {
  '25006': 'set DATABASE_URL to the primary, or reset default_transaction_read_only',
  '53100': 'free disk space',
  '53300':
    'look whether its synchronous standby responds; otherwise raise max_connections, or the limit of the user, or run a pooler',
  '55000': 'set DATABASE_URL to the primary',
  '55P03': 'look in pg_stat_activity for the transaction that keeps it locked',
  '57014': 'look at statement_timeout of the user',
};

/**
 * What became of a statement: it was never sent, nothing of it was made, or that is not known.
 */
export type Fate = 'unsent' | 'refused' | 'unknown';

/** Of the server, a connection or the pool. Its text has neither details nor context, since those have values of records. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE, or a code of Node; null if there is none. */
  readonly code: string | null;
  readonly fate: Fate;
  /** Whether its time was over. */
  readonly isLate: boolean;

  constructor(error: unknown, fate: Fate, { isLate = false } = {}) {
    const message = error instanceof Error ? error.message : String(error);
    const code = codeOf(error);
    const remedy = correctionOf(code ?? '') ?? remedies[code ?? ''];
    super(
      remedy === undefined
        ? message
        : `${isState(code) ? 'PostgreSQL refuses it' : 'PostgreSQL is not trusted'} (${code}: ${message}): ${remedy}.`,
    );
    this.code = code;
    this.fate = fate;
    this.isLate = isLate;
  }
}

/** Somebody has cancelled the wait for the standby, which may lack the commit. */
export const waitCancelled = () =>
  new DatabaseError(
    'The wait for the synchronous standby was cancelled, so the standby may lack the last writes. Find out who cancelled it.',
    'unknown',
  );

export const tooLate = (ms: number) =>
  new DatabaseError(
    `PostgreSQL has not responded within ${ms / 1_000} s. If it runs, look whether its synchronous standby does.`,
    'unknown',
    { isLate: true },
  );

const isState = (code: string | null) => /^[0-9A-Z]{5}$/.test(code ?? '');

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Codes of a pooler that has lost the server, and may keep the connection to us. */
const ofPooler = /^(08|58000)/;

/** Whether the server has sent it. */
export const isOfServer = (error: unknown): boolean => {
  const code = codeOf(error) ?? '';
  return error instanceof Error && 'severity' in error && isState(code) && !ofPooler.test(code);
};

export const isDatabaseError = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError;

/** Whether the connection leads to a standby, or to a server that writes nothing: a new one may lead to the primary. */
export const isOfStandby = (error: unknown): boolean =>
  isDatabaseError(error) && (error.code === '25006' || error.code === '55000');

/** Serialization failure and deadlock: a repetition may succeed. */
export const isConflict = (error: unknown): boolean =>
  isDatabaseError(error) && (error.code === '40001' || error.code === '40P01');

/** What a failed start says in one line, if only a person can change it. */
export const settingsError = (error: unknown): unknown =>
  isDatabaseError(error) && correctionOf(error.code ?? '') !== undefined
    ? new BadSetting(`DATABASE_URL: ${error.message}`, { cause: error })
    : error;

export const unavailable = (error: unknown): unknown =>
  isDatabaseError(error) ? new DomainError('store_unavailable', {}, error) : error;
