import type { Subject } from '@latchkey/domain/domain-error';
import { plainApplication } from '@latchkey/store/plain-application';
import type { ApplicationRecord, LinkedDocument } from '@latchkey/store/records';

/** An application that asks. One with a document has no id before its first approval. */
export type LinkingApplication = Omit<ApplicationRecord, 'id'> & { id: string | null };

export const applicationSubject = ({ id }: LinkingApplication): Subject =>
  id === null ? {} : { application_id: id };

/** What is kept for an application that nobody registered, before an operator changes it. */
const unregistered = {
  ...plainApplication,
  public: true,
  idle_days: 90,
  grants_per_account: 10,
} satisfies Partial<ApplicationRecord>;

/**
 * @param record - of the application; null before the first approval
 * @param redirect_uris - of the document, or the one of a link request
 */
export function withDocument(
  record: ApplicationRecord | null,
  { name, homepage_uri, policy_uri, tos_uri, ...document }: LinkedDocument,
  redirect_uris: string[],
  created_at: number,
): LinkingApplication {
  const kept = record ?? { id: null, created_at, ...unregistered };
  return { ...kept, name, homepage_uri, policy_uri, tos_uri, document, redirect_uris };
}
