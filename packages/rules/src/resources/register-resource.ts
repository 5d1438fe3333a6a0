import { newId } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import { resourceAddress } from '@latchkey/schema';
import { resourceAfter } from '@latchkey/store/generations';
import type { ResourceChanges, ResourceRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

/** An authorization request with a resource reads all of them. */
export const MAX_RESOURCES = 200;

const outside = () => DomainError.invalid(['default_scopes'], 'Must be within scopes.');

export async function createResource(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  members: Pick<ResourceRecord, 'resource' | 'name' | 'scopes' | 'default_scopes'>,
  publicUrl: string,
): Promise<ResourceRecord> {
  const own = resourceAddress(`${publicUrl}/v1`);
  if (own !== null && `${members.resource}/`.startsWith(`${own}/`)) {
    throw DomainError.invalid(['resource'], 'Must not be the /v1 of this service, or below.');
  }
  const now = clock();
  const resource = { ...members, id: newId(now), created_at: now, generation: 0 };
  if (resourceAfter(resource, {}) === null) throw outside();
  const outcome = await store.createResource(resource, { most: MAX_RESOURCES });
  if (outcome !== 'created') throw new DomainError(outcome);
  return resource;
}

export async function updateResource(
  { store }: Pick<Dependencies, 'store'>,
  resource_id: string,
  changes: { [Member in keyof ResourceChanges]: ResourceChanges[Member] | undefined },
): Promise<ResourceRecord> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const resource = await store.updateResource(resource_id, Object.fromEntries(given));
  if (resource === 'default_scopes_outside') throw outside();
  if (resource === 'resource_not_found') throw new DomainError(resource);
  return resource;
}

export async function deleteResource(
  { store }: Pick<Dependencies, 'store'>,
  resource_id: string,
): Promise<ResourceRecord> {
  const resource = await store.deleteResource(resource_id);
  if (resource === null) throw new DomainError('resource_not_found');
  return resource;
}
