import { BadSetting } from '@latchkey/domain/bad-setting';
import { isLoopbackHost } from '@latchkey/domain/loopback';
import { type Finding, ok, problem, warning } from './finding.ts';
import { SchemaMismatch, whoseSchema } from './schema-version.ts';

// What `latchkey doctor` says of every database on a server.

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** How long it takes, in milliseconds. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return Math.ceil(performance.now() - began);
}

interface Inspected {
  /** Of the database. */
  name: string;
  connect(): Promise<unknown>;
  inspect(): AsyncIterable<Finding>;
  close(): Promise<void>;
}

/**
 * @param product - as in `MongoDB`
 * @param open - without a connection yet
 * @param toRefusal - what the server or a setting refuses; null for any other error
 */
export async function* inspectServer(
  product: string,
  open: () => Inspected,
  toRefusal: (error: unknown) => Error | null,
): AsyncGenerator<Finding> {
  try {
    const { name, connect, inspect, close } = open();
    try {
      const milliseconds = await timed(connect);
      yield ok('store', `${product}, database ${name}, connected in ${milliseconds} ms.`);
      yield* inspect();
    } finally {
      await close();
    }
  } catch (error) {
    // A user without rights may be refused only after the connection.
    const refusal = toRefusal(error);
    yield refusal
      ? problem('store', refusal.message, 'Correct it, then run latchkey doctor again.')
      : problem(
          'store',
          `${product} does not respond: ${messageOf(error)}`,
          'Check that it runs where DATABASE_URL says, and that no firewall is in between.',
        );
  }
}

/** @param version - of the database, as in `SQLite 3.50` */
export const checkSchemaVersion = (version: string, schema: number): Finding =>
  ok('version', `${version}, schema version ${schema}, which ${whoseSchema(schema)}.`);

/**
 * What does not let this program use the database.
 *
 * @param page - of the documentation
 * @throws any other error
 */
export function versionProblem(error: unknown, page: string): Finding {
  if (error instanceof BadSetting) return problem('version', error.message, `See ${page}.`);
  if (error instanceof SchemaMismatch) {
    return problem('version', error.message, 'Run the version of Latchkey that migrated it.');
  }
  throw error;
}

/** @param remedy - how they are made */
export function checkIndexes(names: readonly string[], remedy: string): Finding {
  if (names.length === 0) return ok('indexes', 'All indexes are there.');
  return warning(
    'indexes',
    `Indexes are missing, or the service is still to build them: ${names.join(', ')}. Until then, lists, connections, disconnecting, exports and erasures that need them are slow, or fail.`,
    remedy,
  );
}

interface MissingRights {
  rights: readonly string[];
  /** As in `the table grants`. */
  place: string;
  remedy: string;
}

export function* checkRights(all: readonly MissingRights[]): Generator<Finding> {
  for (const { rights, place, remedy } of all) {
    yield problem('rights', `The user may not ${rights.join(', ')} in ${place}.`, `${remedy}.`);
  }
  if (all.length === 0) yield ok('rights', 'The user may do what the service does.');
}

interface Waited {
  write(): Promise<unknown>;
  /** What each change waits for. */
  waitsFor: string;
  /** What a failure means, and what to do about it. */
  failed: [found: string, advice: string];
}

/** Makes a write that changes nothing, and is acknowledged as any. */
export async function checkWrites({ write, waitsFor, failed }: Waited): Promise<Finding> {
  try {
    const milliseconds = await timed(write);
    return ok('write_concern', `Each change waits for ${waitsFor}: ${milliseconds} ms.`);
  } catch (error) {
    return problem('write_concern', `${failed[0]}: ${messageOf(error)}`, failed[1]);
  }
}

export const isRemote = (host: string) => !host.startsWith('/') && !isLoopbackHost(host);

/**
 * @param remote - the hosts that are not this machine
 * @param option - of DATABASE_URL
 */
export function checkTls(isOn: boolean, remote: readonly string[], option: string): Finding {
  if (isOn) {
    return ok('tls', 'The connection is encrypted, and the certificate of the server is checked.');
  }
  if (remote.length === 0) return ok('tls', 'The server is on this machine.');
  return warning(
    'tls',
    `The connection to ${remote.join(', ')} is not encrypted.`,
    `Turn on TLS at the server, and add ${option} to DATABASE_URL.`,
  );
}
