import { DomainError } from '@latchkey/domain/domain-error';
import type { ApplicationChanges, ApplicationRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

/** Of an application with a document, the rest is up to the document. */
const OF_THE_OPERATOR: ReadonlySet<string> = new Set<keyof ApplicationChanges>([
  'scopes',
  'default_scopes',
  'idle_days',
  'grants_per_account',
]);

export async function updateApplication(
  { store }: Pick<Dependencies, 'store'>,
  application_id: string,
  changes: { [Member in keyof ApplicationChanges]: ApplicationChanges[Member] | undefined },
): Promise<ApplicationRecord> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.some(([name]) => !OF_THE_OPERATOR.has(name))) {
    // It never gets or loses a document, so no write can interfere.
    const found = await store.findApplication(application_id);
    if (found?.document != null) throw new DomainError('application_documented');
  }
  const application = await store.updateApplication(application_id, Object.fromEntries(given));
  if (application === null) throw new DomainError('application_not_found');
  return application;
}
