import { type Expected, type Verdict, verifyAssertion } from './assertion.ts';
import type { ClientKeys } from './client-documents.ts';
import { BadDocument, FetchFailure } from './faults.ts';
import { NoPlace } from './places.ts';

/** If the key is not among those that are known, looks for new ones. */
export async function verifyByKeys(
  assertion: string,
  keys: ClientKeys,
  expected: Expected,
): Promise<Verdict | 'keys_unavailable'> {
  const known = await keys.find().catch((error: unknown) => {
    if ([NoPlace, FetchFailure, BadDocument].some((kind) => error instanceof kind)) return null;
    throw error;
  });
  if (known === null) return 'keys_unavailable';
  const verdict = await verifyAssertion(assertion, known, expected);
  if (verdict !== 'key_unknown') return verdict;
  const latest = await keys.refresh();
  return latest === null ? verdict : verifyAssertion(assertion, latest, expected);
}
