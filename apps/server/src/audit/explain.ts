import { type ErrorCode, errorDefinition, formatTimestamp } from '@latchkey/schema';
import type { ActionName, Actor } from '../initiator.ts';
import { type Reason, reasons } from '../reasons.ts';
import type { RefusalRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';

export interface Explanation {
  object: 'refusal';
  at: string;
  request_id: string;
  operation: ActionName;
  error_code: ErrorCode;
  reason: Reason | null;
  found: string;
  advice: string;
  by: Actor | null;
  application_id: string | null;
  grant_id: string | null;
  key_id: string | null;
  address: string | null;
}

// A caller may send the same id with all of its requests.
const MAX_EXPLAINED = 20;

/** The newest refusals with an id, and the first, which later ones cannot hide. */
export async function explainRequest(store: Store, request_id: string): Promise<Explanation[]> {
  const newest = await store.findRefusals({ request_id }, { limit: MAX_EXPLAINED, before: null });
  if (newest.length < MAX_EXPLAINED) return newest.map(explain);
  const first = await store.findFirstRefusal(request_id);
  return (first === null ? newest : [...newest.slice(0, -1), first]).map(explain);
}

function explain(refusal: RefusalRecord): Explanation {
  const { at, request_id, operation, error_code, reason } = refusal;
  const { by, application_id, grant_id, key_id, address } = refusal;
  return {
    object: 'refusal',
    at: formatTimestamp(at),
    ...{ request_id, operation, error_code, reason },
    ...meaning(error_code, reason),
    ...{ by, application_id, grant_id, key_id, address },
  };
}

function meaning(code: ErrorCode, reason: Reason | null): { found: string; advice: string } {
  if (reason !== null) {
    const { found, advice } = reasons[reason];
    return { found, advice };
  }
  const { title, help } = errorDefinition(code);
  return { found: `${title}.`, advice: help };
}
