import type { Given } from '../condition.ts';
import type { RecordOf } from '../kind.ts';
import type { grants } from '../kinds.ts';

type Grant = RecordOf<typeof grants>;
type ValueOf<N extends keyof Grant> = NonNullable<Grant[N]> | Given<Grant[N]>;

/** What a revocation makes of a grant: its secret goes with it. */
export const revoked = <
  How extends {
    revoked_at: ValueOf<'revoked_at'>;
    revoked_by: ValueOf<'revoked_by'>;
    revoked_reason?: ValueOf<'revoked_reason'>;
  },
>(
  how: How,
) => ({ ...how, secret_hash: null });
