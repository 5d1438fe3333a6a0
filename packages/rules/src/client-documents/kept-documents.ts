import type { KeptDocument } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import type { AskedBy, ClientDocuments } from './client-documents.ts';
import type { ClientDocument } from './document.ts';

type Keeping = Pick<Dependencies, 'store' | 'room' | 'linking'>;

/**
 * The document of an address: the one that is pinned, or what its server has, with the one that is kept for as long
 * as that fails temporarily.
 *
 * @param kept - what the database has of the address
 * @throws NoPlace, HostFailing or DocumentFailure
 */
export async function findDocument(
  service: Keeping,
  documents: ClientDocuments,
  address: string,
  { kept, ...asked }: Omit<AskedBy, 'kept'> & { kept: KeptDocument | null },
): Promise<ClientDocument> {
  if (kept?.kept_until === null) {
    documents.forget(address);
    return documents.read(kept);
  }
  const { hasApplication } = asked;
  const { document, isNews } = await documents.find(address, {
    ...asked,
    kept: hasApplication ? kept : undefined,
    end: endOf(service, kept),
  });
  if (hasApplication && isNews) await keepDocument(service, address);
  return document;
}

/** Ends what the database has of an address. */
export const endOf =
  ({ store }: Pick<Keeping, 'store'>, kept: KeptDocument | null) =>
  async (): Promise<void> => {
    if (kept !== null) await store.endKeptDocument(kept.document_uri);
  };

/** Keeps what this process has fetched of an address that has an application. Nothing depends on it now. */
export async function keepDocument(
  { store, room, linking }: Keeping,
  address: string,
): Promise<void> {
  if (await room.isFull()) return;
  const keep = (document: KeptDocument) => store.keepDocument(document);
  // The store tells of its failures. The next link tries again.
  await linking?.clientDocuments?.write(address, keep).catch(() => {});
}
