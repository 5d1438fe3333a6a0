import { toSnapshot } from '../../../src/store/mongodb/documents/accounts.ts';
import { type GrantDocument, toNewDocument } from '../../../src/store/mongodb/documents/grants.ts';
import { toHash } from '../../../src/store/mongodb/documents/values.ts';
import type { PendingRecord } from '../../../src/store/records.ts';
import { newCode } from '../suite/records.ts';

/** The document of a code that was issued. */
export function pendingDocument(code: PendingRecord): GrantDocument {
  return {
    ...toNewDocument(newCode(code)),
    account: toSnapshot(code.account),
    code_hash: toHash(code.code_hash),
  };
}
