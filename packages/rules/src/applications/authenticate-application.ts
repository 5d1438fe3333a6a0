import {
  hashCredential,
  isLive,
  isTextOf,
  minuteToNote,
  readCredential,
} from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Reason } from '@latchkey/domain/reasons';
import type { ApplicationAuthentication } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { type Assertion, verifyAssertion } from '../client-documents/assertion.ts';
import { endOf } from '../client-documents/kept-documents.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Limit } from '../limits/limit.ts';
import { readPins, vouchersOf } from '../linking/linking.ts';

export interface AuthenticatedApplication {
  application: ApplicationAuthentication;
  /** Null for a public application: anybody can call as one. */
  secret_id: string | null;
}

const unknownApplication = (claimed_application_id: string) =>
  DomainError.because('application_unknown', { claimed_application_id });

/** A plain read: during a failover it may miss a secret that was just created. */
export async function isKnownApplicationSecret(
  { store }: { store: Store },
  credential: string,
): Promise<boolean> {
  const application_id = readCredential('applicationSecret', credential);
  const application = await store.authenticateApplication(application_id, { mayBeStale: true });
  const hash = hashCredential(credential);
  return application?.secrets.some((secret) => isTextOf(secret.hash, hash)) ?? false;
}

export async function authenticateApplication(
  { store, clock, useNotes }: Pick<Dependencies, 'store' | 'clock' | 'useNotes'>,
  credential: string,
): Promise<AuthenticatedApplication> {
  const application_id = readCredential('applicationSecret', credential);
  const refuse = (reason: Reason) => DomainError.because(reason, { application_id });
  const application = await store.authenticateApplication(application_id);
  if (application === null) throw unknownApplication(application_id);

  const hash = hashCredential(credential);
  const secret = application.secrets.find((candidate) => isTextOf(candidate.hash, hash));
  const now = clock();
  if (secret === undefined) throw refuse('secret_unknown');
  if (!isLive(secret, now)) throw refuse('secret_expired');
  if (application.disabled) throw refuse('application_disabled');
  const minute = minuteToNote(secret, now);
  if (minute !== null) {
    useNotes.write(secret.id, () => store.noteSecretUse(application_id, secret.id, minute));
  }
  return { application, secret_id: secret.id };
}

export async function isKnownPublicApplication(
  { store }: { store: Store },
  application_id: string,
): Promise<boolean> {
  return (
    (await store.authenticateApplication(application_id, { mayBeStale: true }))?.public ?? false
  );
}

export async function isKnownDocument({ store }: { store: Store }, uri: string): Promise<boolean> {
  return (await store.findDocumented(uri, { mayBeStale: true })) !== null;
}

/** What a client sends to show that it is the application with a document. */
export interface DocumentProof {
  /** The address of the document. */
  uri: string;
  assertion: Assertion | null;
  /** Who an assertion may be for. */
  audiences: readonly string[];
}

/**
 * RFC 7523, section 2.2, or, of a public one, the address alone.
 *
 * @param pairs - where failed assertions count for the client and the address that sent them. Not for
 * the client alone: anybody could then keep it out. With when this address has hung up
 */
export async function authenticateDocumented(
  { store, clock, linking }: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  { uri, assertion, audiences }: DocumentProof,
  pairs: { failures: Limit; address_key: string; gone: AbortSignal },
): Promise<AuthenticatedApplication> {
  const documents = linking?.clientDocuments;
  // What it asks for is not verified.
  const hasKept = assertion !== null && documents?.isWritten(uri);
  const [application, kept] = await Promise.all([
    store.findDocumented(uri),
    hasKept ? store.findKeptDocument(uri) : null,
    assertion !== null && readPins({ store, linking }),
  ]);
  if (application?.document == null) throw DomainError.because('application_unknown');
  const { id: application_id, document } = application;
  // The id of a record: what a stranger makes up takes no place among the counts.
  const pair = `${application_id}/${pairs.address_key}`;
  const refuse = (reason: Reason) => {
    if (assertion !== null) pairs.failures.count(pair);
    return DomainError.because(reason, { application_id });
  };
  if (assertion !== null) pairs.failures.check(pair);
  if (document.method === 'none') {
    if (assertion !== null) throw refuse('assertion_unexpected');
  } else {
    if (assertion === null) throw refuse('assertion_missing');
    const { signing_alg } = document;
    const voucher = vouchersOf({ linking }).ofClient(application);
    const expected = { address: uri, audiences, signing_alg, voucher, now: clock() };
    const end = endOf({ store }, kept);
    const keys = documents?.keysOf(document, pairs.address_key, { kept, end, gone: pairs.gone });
    if (keys === undefined) throw DomainError.because('application_unknown');
    const verdict = await verifyAssertion(assertion, keys, expected);
    if (verdict === 'keys_unavailable') {
      // Its owner chooses where the keys are, and so that there are none.
      pairs.failures.count(pair);
      const why = { reason: null, subject: { application_id } };
      throw new DomainError('client_keys_unavailable', {}, undefined, why);
    }
    if (verdict !== 'valid') throw refuse(verdicts[verdict]);
  }
  if (application.disabled) throw DomainError.because('application_disabled', { application_id });
  return { application, secret_id: null };
}

const verdicts = { invalid: 'assertion_invalid', key_unknown: 'assertion_key_unknown' } as const;

/** The id proves nothing about the caller: see decision 50. */
export async function authenticatePublicApplication(
  { store }: { store: Store },
  application_id: string,
): Promise<AuthenticatedApplication> {
  const refuse = (reason: Reason) => DomainError.because(reason, { application_id });
  const application = await store.authenticateApplication(application_id);
  if (application === null) throw unknownApplication(application_id);
  if (application.document !== null) throw refuse('client_id_not_address');
  if (!application.public) throw refuse('secret_required');
  if (application.disabled) throw refuse('application_disabled');
  return { application, secret_id: null };
}
