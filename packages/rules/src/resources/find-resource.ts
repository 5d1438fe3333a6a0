import { DomainError } from '@latchkey/domain/domain-error';
import { resourceAddress } from '@latchkey/schema';
import type { ResourceRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import { isOwnResource } from './own-resource.ts';

export function sameResource(
  resources: readonly ResourceRecord[],
  named: string,
): ResourceRecord | null {
  const address = resourceAddress(named);
  return resources.find(({ resource }) => resource === address) ?? null;
}

/** The address of a registered resource; null for that of the service. */
export async function registeredResource(
  store: Pick<Store, 'listResources'>,
  named: string,
  publicUrl: string,
): Promise<string | null> {
  if (isOwnResource(named, publicUrl)) return null;
  const found = sameResource(await store.listResources(), named);
  if (found === null) throw DomainError.because('resource_unregistered');
  return found.resource;
}

/** What a conversion that names a resource can be of; null stands for no resource. */
export async function resourcesMeant(
  store: Pick<Store, 'listResources'>,
  named: string,
  publicUrl: string,
): Promise<(string | null)[]> {
  if (isOwnResource(named, publicUrl)) return [null];
  const address = resourceAddress(named);
  const meant = address === null ? [] : [address];
  // Where no resource is registered, a code that has none ignores it.
  return (await store.listResources()).length === 0 ? [...meant, null] : meant;
}

export type ShownResource = Pick<ResourceRecord, 'resource' | 'name'>;

/** Of what was deleted since, the address stands for the name. */
export function shownResource(
  resources: readonly ResourceRecord[],
  address: string,
): ShownResource {
  const found = resources.find(({ resource }) => resource === address);
  return { resource: address, name: found?.name ?? address };
}
