import { DomainError } from '@latchkey/domain/domain-error';
import {
  type DescribedDocument,
  listDocuments,
  pinDocument,
  unpinDocument,
} from '@latchkey/rules/client-documents/pinned-documents';
import { type ClientDocument, formatTimestamp } from '@latchkey/schema';
import { readPage } from './list.ts';
import type { OperationRows } from './row.ts';
import { timestampOrNull } from './wire.ts';

export const documentRows: OperationRows<'admin.documents'> = {
  'admin.documents.pin': {
    audited: 'always',
    ids: { document_uri: 'input.document_uri', application_id: 'output.application_id' },
    handle: async (service, { document_uri, document }) =>
      toClientDocument(await pinDocument(service, document_uri, document)),
  },
  'admin.documents.unpin': {
    audited: 'always',
    ids: { document_uri: 'input.document_uri', application_id: 'output.application_id' },
    handle: async (service, { document_uri }) =>
      toClientDocument(await unpinDocument(service, document_uri)),
  },
  'admin.documents.list': {
    audited: 'refusals',
    ids: {},
    handle: (service, { pinned, limit, cursor }) =>
      readPage(
        limit,
        (most) => listDocuments(service, { limit: most, after: addressOf(cursor) }, pinned),
        ({ document_uri }) => Buffer.from(document_uri).toString('base64url'),
        toClientDocument,
      ),
  },
};

/** A cursor is the last address that was shown. */
function addressOf(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const address = Buffer.from(cursor, 'base64url').toString();
  if (/^https:\/\/[\x21-\x7e]+$/.test(address)) return address;
  throw DomainError.invalid(['cursor'], 'Must be the next_cursor of the previous page.');
}

function toClientDocument(document: DescribedDocument): ClientDocument {
  const { document_uri, application_id, name, redirect_uris, method } = document;
  return {
    object: 'client_document',
    ...{ document_uri, application_id, name, redirect_uris, method },
    pinned: document.kept_until === null,
    kept_at: formatTimestamp(document.kept_at),
    kept_until: timestampOrNull(document.kept_until),
  };
}
