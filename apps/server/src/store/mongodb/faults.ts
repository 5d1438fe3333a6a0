import {
  MongoCompatibilityError,
  MongoInvalidArgumentError,
  MongoMissingCredentialsError,
  MongoMissingDependencyError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb';

/**
 * A fault of the database or its address that waiting does not cure. The message is for a person:
 * it goes on after `DATABASE_URL: ` in the one line that a failed start prints.
 */
export class PermanentFault extends Error {
  override readonly name = 'PermanentFault';

  constructor(fault: string, cause?: unknown) {
    super(`DATABASE_URL: ${oneLine(fault)}`, cause === undefined ? undefined : { cause });
  }
}

/** What the driver says of a URL it can't read, without the user name and the password in it. */
export function faultOfUrl(url: string, error: unknown): PermanentFault {
  // Without the driver's error as the cause: it could repeat the URL.
  const said = error instanceof Error ? error.message : String(error);
  return new PermanentFault(
    `${withoutCredentials(said, url)}. It should be like mongodb://user:password@host:27017/latchkey, with the user and the password percent-encoded`,
  );
}

/** The fault where the server was reached and refuses for good; undefined for anything else. */
export function permanentFault(error: unknown): PermanentFault | undefined {
  if (error instanceof PermanentFault) return error;
  // A server that the driver is too new for is not selected, and the reason is the cause of that.
  const reason = error instanceof MongoServerSelectionError ? error.cause : error;
  if (isUnusable(reason)) return new PermanentFault(reason.message, error);
  if (!(error instanceof MongoServerError)) return undefined;
  switch (error.code) {
    case 18: // AuthenticationFailed
    case 8000: // AtlasError, of which this is the one that comes at the start
      return new PermanentFault(
        'the server refuses the user or the password: correct them; authSource names the database that the user was created in',
        error,
      );
    case 13: // Unauthorized
      return new PermanentFault(
        'the user may not use this database: grant it the role readWrite on it',
        error,
      );
    default:
      return undefined;
  }
}

/** What the URL asks for can't be done here: an option, a file of certificates, a missing module. */
function isUnusable(error: unknown): error is Error {
  return (
    error instanceof MongoCompatibilityError ||
    error instanceof MongoInvalidArgumentError ||
    error instanceof MongoMissingCredentialsError ||
    error instanceof MongoMissingDependencyError ||
    (error instanceof Error && 'syscall' in error && error.syscall === 'open')
  );
}

function withoutCredentials(text: string, url: string): string {
  // Up to the last @: a password that is not percent-encoded may contain one.
  const userinfo = /^[^/]*:\/\/(.*)@/s.exec(url)?.[1] ?? '';
  const secrets = [url, userinfo, ...userinfo.split(/[:@/]/)].filter((part) => part !== '');
  return secrets
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
