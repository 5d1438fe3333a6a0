import type { PendingRecord } from '@latchkey/store/records';
import { newCode } from '@latchkey/store-suite/records';
import { toSnapshot } from '../src/documents/accounts.ts';
import { type GrantDocument, toNewDocument } from '../src/documents/grants.ts';
import { toHash } from '../src/documents/values.ts';

/** The document of a code that was issued. */
export function pendingDocument(code: PendingRecord): GrantDocument {
  return {
    ...toNewDocument(newCode(code)),
    account: toSnapshot(code.account),
    code_hash: toHash(code.code_hash),
  };
}
