import { driverOf } from '../../src/store/open-store.ts';
import { fillWithGrants } from '../store/many-grants.ts';

/** See {@link fillWithGrants}. */
export async function manyGrants(url: string, count: number) {
  return fillWithGrants(await driverOf(url).openTarget(url), count);
}
