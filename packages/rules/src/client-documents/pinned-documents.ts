import { afterChange, DomainError } from '@latchkey/domain/domain-error';
import type { ClientMethod, KeptDocument } from '@latchkey/store/records';
import type { DocumentRange } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { type Linking, linkingOf, readPins } from '../linking/linking.ts';
import type { ClientDocuments } from './client-documents.ts';
import { DocumentFailure, type DocumentFault } from './faults.ts';
import { MAX_SHOWN_HOST } from './redirect-uris.ts';

/** Every link of an application that nobody registered reads their addresses. */
export const MAX_PINS = 100;

export interface DescribedDocument extends KeptDocument {
  /** Null before the first approval. */
  application_id: string | null;
  name: string;
  redirect_uris: string[];
  method: ClientMethod;
}

type Documents = Pick<Dependencies, 'store' | 'clock' | 'room' | 'linking'>;

export async function pinDocument(
  service: Documents,
  document_uri: string,
  members: object,
): Promise<DescribedDocument> {
  const documents = documentsOf(service);
  const refuse = (message: string) => DomainError.invalid(['document_uri'], message);
  if (!documents.isWritten(document_uri)) throw refuse('Must be an https: address with a path.');
  if (new URL(document_uri).hostname.length > MAX_SHOWN_HOST) {
    throw refuse(`Must have a host of at most ${MAX_SHOWN_HOST} characters.`);
  }
  let document: string;
  try {
    document = JSON.stringify(members);
    documents.readVouched(document_uri, document);
  } catch (error) {
    // From about the depth at which a document of nothing but brackets has 10 KiB, JSON.stringify overflows the stack.
    if (error instanceof RangeError) throw refusalOf('document_too_large');
    throw error instanceof DocumentFailure ? refusalOf(error.fault) : error;
  }
  if (await service.room.isFull()) {
    // One in the place of another needs no room.
    const pinned = await service.store.listPinned();
    const isNew = !pinned.includes(document_uri);
    if (isNew && pinned.length < MAX_PINS) throw new DomainError('store_full');
  }
  const pin = { document_uri, document, kept_at: service.clock() };
  const outcome = await service.store.pinDocument(pin, { most: MAX_PINS });
  if (outcome !== 'pinned') throw new DomainError(outcome);
  return afterChange(async () => {
    await readPins(service);
    return describe(service, { ...pin, kept_until: null });
  });
}

/** The next link fetches: nothing is kept any more. */
export async function unpinDocument(
  service: Documents,
  document_uri: string,
): Promise<DescribedDocument> {
  const documents = documentsOf(service);
  const pinned = await service.store.unpinDocument(document_uri);
  if (pinned === null) throw new DomainError('document_not_found');
  documents.forget(document_uri);
  return afterChange(async () => {
    await readPins(service);
    return describe(service, pinned);
  });
}

/** Those that are pinned or kept. */
export async function listDocuments(
  service: Documents,
  range: DocumentRange,
  pinned: boolean | undefined,
): Promise<DescribedDocument[]> {
  const now = service.clock();
  const [kept] = await Promise.all([
    service.store.listKeptDocuments(range, { now, pinned }),
    readPins(service),
  ]);
  return Promise.all(kept.map((one) => describe(service, one)));
}

async function describe(service: Documents, kept: KeptDocument): Promise<DescribedDocument> {
  const application = await service.store.findDocumented(kept.document_uri);
  const read = documentsOf(service).describe(kept);
  const { show } = linkingOf(service).vouchers;
  const { name } = show({ document: { uri: kept.document_uri }, ...read });
  return { ...kept, ...read, name, application_id: application?.id ?? null };
}

function documentsOf(service: { linking: Linking | null }): ClientDocuments {
  const { clientDocuments } = linkingOf(service);
  if (clientDocuments === null) throw new Error('CLIENT_DOCUMENTS is off.');
  return clientDocuments;
}

/** The member that breaks a rule, and what it has to be. */
const FAULTS: { readonly [Fault in DocumentFault]?: readonly [member: string, message: string] } = {
  document_client_id: ['client_id', 'Must be document_uri, character for character.'],
  document_client_secret: ['client_secret', 'Must be left out: everybody can read a document.'],
  document_grant_types: ['grant_types', 'Must have authorization_code, or be left out.'],
  document_response_types: ['response_types', 'Must have code, or be left out.'],
  document_redirect_uris: ['redirect_uris', 'Must have a redirect URI that is taken here.'],
  document_auth_method: [
    'token_endpoint_auth_method',
    'Must be none or private_key_jwt, or have one of them among those that are supported.',
  ],
  document_signing_alg: [
    'token_endpoint_auth_signing_alg',
    'Must be RS256, PS256, ES256, EdDSA or Ed25519, or be left out.',
  ],
  document_keys: ['jwks', 'Must be a set of keys, where jwks_uri is left out.'],
  document_keys_address: ['jwks_uri', 'Must be an https: address with a path.'],
  document_keys_secret: ['jwks', 'Must have no private or symmetric key.'],
};

function refusalOf(fault: DocumentFault): DomainError {
  const [member, message] = FAULTS[fault] ?? [null, 'Must have at most 10 KiB as JSON.'];
  return DomainError.invalid(['document', ...(member === null ? [] : [member])], message);
}
