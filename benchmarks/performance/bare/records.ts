import type { Store } from '../../../apps/server/src/store/store.ts';

type Used =
  | 'createApplication'
  | 'putAccount'
  | 'findApplication'
  | 'issueCode'
  | 'redeemCode'
  | 'authenticateGrant'
  | 'noteFirstUse'
  | 'revokeGrant';

/** What the rules need of a store: of Latchkey's port, what is measured. It may answer at once. */
export type Records = {
  [Name in Used]: (
    ...args: Parameters<Store[Name]>
  ) => ReturnType<Store[Name]> | Awaited<ReturnType<Store[Name]>>;
};
