import { DomainError } from '@latchkey/domain/domain-error';

const remedies: Readonly<Record<string, string>> = {
  '25006': 'set DATABASE_URL to the primary',
  '28000': 'look at pg_hba.conf of the server',
  '28P01': 'correct the user or the password',
  '3D000': 'create the database',
  '42501': 'grant the user the rights in docs/operations/postgresql.md',
  '53100': 'free disk space',
  '53300': 'raise max_connections of the server, or run a pooler',
  '55000': 'set DATABASE_URL to the primary',
};

/** Of the server, a connection, or the pool. Its text has no values of a record: neither details nor context. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  /** SQLSTATE, or a code of Node; null if there is none. */
  readonly code: string | null;
  /** Whether nothing of the statement was made, for certain. */
  readonly isRefused: boolean;

  constructor(error: unknown, isRefused: boolean) {
    const { message } = error instanceof Error ? error : { message: String(error) };
    const code = codeOf(error);
    const remedy = remedies[code ?? ''];
    super(
      remedy === undefined ? message : `PostgreSQL refuses it (${code}: ${message}): ${remedy}.`,
    );
    this.code = code;
    this.isRefused = isRefused;
  }
}

/** A standby may lack it: somebody has cancelled the wait for it. */
export class WaitCancelled extends Error {
  override readonly name = 'WaitCancelled';
  constructor() {
    super(
      'The wait for the synchronous standby was cancelled: the standby may lack the last writes. Find out who cancelled it.',
    );
  }
}

const codeOf = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** Whether the server has sent it. */
export const isOfServer = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && /^[0-9A-Z]{5}$/.test(codeOf(error) ?? '');

/** Serialization failure and deadlock: nothing was made, and a repetition may succeed. */
export const isConflict = ({ code }: DatabaseError): boolean =>
  code === '40001' || code === '40P01';

export const unavailable = (error: unknown): unknown =>
  error instanceof DatabaseError ? new DomainError('store_unavailable', {}, error) : error;
