import { BadSetting } from '@latchkey/domain/bad-setting';
import {
  MongoCompatibilityError,
  MongoInvalidArgumentError,
  MongoMissingCredentialsError,
  MongoMissingDependencyError,
  MongoServerError,
  MongoServerSelectionError,
  type TopologyDescription,
} from 'mongodb';

/** Waiting does not solve it. A failed start prints the message as one line. */
export class ConfigurationError extends BadSetting {
  override readonly name = 'ConfigurationError';

  constructor(problem: string, cause?: unknown) {
    super(`DATABASE_URL: ${oneLine(problem)}`, cause === undefined ? undefined : { cause });
  }
}

/** @param refusal - what the driver says of an address, null if it takes it */
export function urlError(url: string, refusal: (url: string) => string | null): ConfigurationError {
  // The driver quotes what it refuses, so it is asked again with nothing secret in the address. Parts of
  // its message can't be hidden: where the user is "e", that would be every "e".
  const said = refusal(withPlaceholders(url)) ?? 'a user, a password or a property can’t be read';
  return new ConfigurationError(
    `${said}. It should be like mongodb://user:password@host:27017/latchkey, with the user and the password percent-encoded`,
  );
}

/** Up to the last @: a password that is not percent-encoded may contain one. */
const USERINFO = /(?<=^[^/]*:\/\/).*@/s;
const SECRET_OPTIONS =
  /(?<=[?&](?:authMechanismProperties|tlsCertificateKeyFilePassword|proxyUsername|proxyPassword)=)[^&]*/gi;

const withPlaceholders = (url: string) =>
  url.replace(USERINFO, 'user:password@').replaceAll(SECRET_OPTIONS, 'A:b');

export function configurationError(
  error: unknown,
  setNames: ReadonlySet<string>,
): ConfigurationError | undefined {
  if (error instanceof ConfigurationError) return error;
  // The driver does not select a server that is too old for it. The cause says so.
  const reason = error instanceof MongoServerSelectionError ? error.cause : error;
  if (isUnusable(reason)) return new ConfigurationError(reason.message, error);
  if (error instanceof MongoServerSelectionError) {
    const topology = error.reason as TopologyDescription;
    const problem = otherSet(topology, setNames) ?? tlsProblem(topology);
    return problem === undefined ? undefined : new ConfigurationError(problem, error);
  }
  if (!(error instanceof MongoServerError)) return undefined;
  switch (error.code) {
    case 11: // UserNotFound, which only a certificate gets
      return new ConfigurationError(
        `the server has no user with the subject of the certificate (${error.message}): create it in the database $external`,
        error,
      );
    case 18: // AuthenticationFailed
    case 8000: // AtlasError, which at the start means the same
      return new ConfigurationError(
        'the server refuses the user or the password: correct them, and set authSource to the database in which the user was created',
        error,
      );
    case 13: // Unauthorized
      return new ConfigurationError(
        'the user may not use this database: grant it the role readWrite on it',
        error,
      );
    default:
      return undefined;
  }
}

export function withHint(error: unknown): unknown {
  if (!(error instanceof MongoServerSelectionError)) return error;
  const { message } = error;
  if (/ closed$/.test(message)) {
    return new Error(
      `${message}. If the server requires TLS, add tls=true to DATABASE_URL; if it requires a certificate, set tlsCertificateKeyFile to one that it trusts; if it has no TLS, remove tls=true.`,
      { cause: error },
    );
  }
  return error;
}

/** The driver drops members of other replica sets for good. */
function otherSet(topology: TopologyDescription, setNames: ReadonlySet<string>) {
  if (topology.type !== 'ReplicaSetNoPrimary' || topology.servers.size > 0) return undefined;
  const wanted = `replicaSet=${topology.setName}`;
  const [found] = setNames;
  return found === undefined
    ? `no server of the URL is a member of a replica set: remove ${wanted}`
    : `the servers are the replica set '${found}', not '${topology.setName}': set replicaSet=${found}`;
}

const untrusted =
  'no trusted authority issued the certificate of the server: set tlsCAFile to the certificate of its authority';

const tlsProblems: Record<string, string> = {
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'the certificate of the server does not name the host of the URL: use a name that it has',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS: remove tls=true',
};

/** Only if every server reports a TLS error: the driver reads the certificate files once. */
function tlsProblem({ servers }: TopologyDescription): string | undefined {
  const problems = [...servers.values()].map(({ error }) => {
    const cause = error?.cause ?? error;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (code.startsWith('ERR_OSSL_')) {
      return `the certificate can't be used (${cause?.message}): set tlsCertificateKeyFile to a file with a certificate and its key, and tlsCAFile to one with certificates`;
    }
    return tlsProblems[code];
  });
  return problems.includes(undefined) ? undefined : problems[0];
}

function isUnusable(error: unknown): error is Error {
  return (
    error instanceof MongoCompatibilityError ||
    error instanceof MongoInvalidArgumentError ||
    error instanceof MongoMissingCredentialsError ||
    error instanceof MongoMissingDependencyError ||
    (error instanceof Error && 'syscall' in error && error.syscall === 'open')
  );
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
