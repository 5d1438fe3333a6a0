import { reasons } from '@latchkey/domain/reasons';
import { DocumentFailure } from '@latchkey/rules/client-documents/faults';
import type { Linking } from '@latchkey/rules/linking/linking';
import { type Finding, ok, problem, warning } from '@latchkey/store/finding';
import type { Store } from '@latchkey/store/store';
import { linkingFrom } from '../open-service.ts';
import type { Settings } from '../settings.ts';

/** Fetches each document that CLIENT_DOCUMENTS names by its whole address, unless it is pinned. */
export async function* checkDocuments(
  store: Pick<Store, 'listPinned'>,
  settings: Settings,
): AsyncGenerator<Finding> {
  const addresses = settings.clientDocuments?.addresses ?? [];
  const linking = linkingFrom(settings);
  if (addresses.length === 0 || linking === null) return;
  const pinned = await store.listPinned();
  for (const address of addresses) {
    if (!pinned.includes(address)) yield await checkDocument(linking, address);
  }
}

async function checkDocument({ clientDocuments }: Linking, address: string): Promise<Finding> {
  try {
    await clientDocuments?.find(address, { caller: 'doctor', hasApplication: false });
    return ok('documents', `${address} has a document that can be used.`);
  } catch (error) {
    if (!(error instanceof DocumentFailure)) throw error;
    const { found } = reasons[error.fault];
    const says = error.isTemporary ? warning : problem;
    return says(
      'documents',
      `${address}: ${found}`,
      error.isTemporary
        ? 'Run latchkey doctor again. Until it can be fetched, latchkey document pin makes its application link.'
        : 'Tell its developers, or pin a document that follows the rules: latchkey document pin.',
    );
  }
}
