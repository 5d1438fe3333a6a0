import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { ApplicationChanges, ApplicationRecord } from '../store/records.ts';

export async function updateApplication(
  { store }: Service,
  application_id: string,
  changes: { [Member in keyof ApplicationChanges]: ApplicationChanges[Member] | undefined },
): Promise<ApplicationRecord> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const application = await store.updateApplication(application_id, Object.fromEntries(given));
  if (application === null) throw new DomainError('application_not_found');
  return application;
}
