import { accounts, applications, grants, links, pages } from '@latchkey/store/kinds';
import { storedAccount } from '@latchkey/store/operations/accounts';
import { storedApplication } from '@latchkey/store/operations/applications';
import type {
  ApplicationRecord,
  CurrentAccount,
  LinkRecord,
  PageRecord,
  PendingRecord,
} from '@latchkey/store/records';
import { anId, anInitiator, newCode } from '@latchkey/store-suite/records';
import type { Document } from 'mongodb';
import type { GrantDocument } from '../src/documents.ts';
import { documentOf } from '../src/encoding.ts';

const account = documentOf(accounts);
const application = documentOf(applications);
const grant = documentOf(grants);
const link = documentOf(links);
const page = documentOf(pages);

/** The document of a code whose account was not read yet. */
export function newDocument(code: PendingRecord): Document {
  const { grant_id, initiator, code_hash: _, ...rest } = newCode(code);
  return grant({ id: grant_id, issued_by: initiator, ...rest });
}

/** The document of a code that was issued. */
export function pendingDocument(code: PendingRecord) {
  const { account, code_hash } = code;
  const document = { ...newDocument(code), ...grant({ account, code_hash }) };
  return document as GrantDocument & { code_expires_at: Date };
}

export const linkDocument = ({ decision: _, ...record }: LinkRecord): Document =>
  link({ ...record, begin_initiator: anInitiator() });

export const pageDocument = (record: PageRecord): Document =>
  page({ ...record, create_initiator: anInitiator() });

export const applicationDocument = (record: ApplicationRecord): Document =>
  application({ ...storedApplication(record) });

export const documentOfAccount = (record: CurrentAccount): Document =>
  account({ ...storedAccount({ place: anId(), account: record }) });
