import { fillWithGrants } from '@latchkey/store-suite/many-grants';
import { driverOf } from '../../src/open-store.ts';

/** See {@link fillWithGrants}. */
export async function manyGrants(url: string, count: number) {
  return fillWithGrants(await driverOf(url).openTarget(url), count);
}
