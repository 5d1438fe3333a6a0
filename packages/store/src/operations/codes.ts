import type { Adapter } from '../adapter.ts';
import {
  atLeast,
  type Givens,
  isSet,
  moreThan,
  oneOf,
  picking,
  unless,
  when,
} from '../condition.ts';
import { NUMBERS } from '../endings.ts';
import type { NewCode, Redemption } from '../inputs.ts';
import type { RecordOf } from '../kind.ts';
import { accounts, grants } from '../kinds.ts';
import {
  BINDING,
  type CodeState,
  type GrantRecord,
  PENDING,
  type PendingRecord,
  partOf,
} from '../records.ts';
import { endedNow, MARKS, type MarksInside, UNENDED } from './marks.ts';
import { newestFirst } from './sites.ts';

type Stored = RecordOf<typeof grants>;

const STATE = ['application_id', 'account_id', 'generation', 'code_hash', ...BINDING] as const;
const CODE = [
  ...['application_id', 'account_id', 'generation', 'code_hash', 'created_at', ...BINDING],
] as const;
const REDEEMED = [
  'resource',
  'scope',
  'choice',
  'account',
  'created_at',
  'last_used_at',
  'revoked_at',
] as const;

const LISTED = [...PENDING, 'account_id', 'account_revision', 'revoked_at'] as const;

/** Without a hash, it is not issued yet: its account is still to be read. */
const pending = { created_at: null, code_expires_at: isSet, code_hash: isSet } as const;

const grant_id = (input: { grant_id: string }) => input.grant_id;

export function codes(db: Adapter, { shown }: MarksInside) {
  const issue = db.sequence(
    (steps) =>
      steps.insertHeld(grants, {
        kind: accounts,
        by: 'account_id',
        fields: ['account', 'revision'],
        copy: ({ account, revision }, { code_hash }: NewCodeFields) =>
          account && { account, account_revision: revision, code_hash },
        withheld: ['code_hash'],
      }),
    { grant_id: ({ id }) => id },
  );
  const byId = ({ grant_id }: Givens<{ grant_id: string }>) => ({ id: grant_id });
  const find = db.joined(
    grants,
    byId,
    [...CODE, ...NUMBERS, 'revoked_at'],
    MARKS,
    (found): CodeState | null => {
      const code = endedNow(found);
      const redeemed = code.created_at !== null;
      if (code.code_hash === null || (!redeemed && code.revoked_at !== null)) return null;
      return { ...stateOf(code), redeemed } as CodeState;
    },
  );
  const cancel = db.remove(
    grants,
    ({ grant_id }: Givens<{ grant_id: string }>) => ({
      id: grant_id,
      created_at: null,
      code_hash: isSet,
    }),
    PENDING,
    pendingRecord,
    { grant_id, ends: true },
  );
  const list = db.list(
    grants,
    ({ account_id }: Givens<{ account_id: string }>) => ({
      ...{ account_id, revoked_at: null, ...pending },
    }),
    LISTED,
    (code) => code,
    { index: 'codes_by_account', order: newestFirst },
  );

  return {
    /**
     * Issues a code with a snapshot of the current account. Null if there is no such account, or it
     * was erased meanwhile; then no copy of it is left.
     */
    async issueCode({ grant_id, initiator, ...code }: NewCode): Promise<PendingRecord | null> {
      const issued = await issue({ id: grant_id, ...code, issued_by: initiator });
      return issued && pendingRecord(issued);
    },

    /**
     * Turns a pending code into an active grant, created at `now`, if
     * - the application and the hash are those of the code,
     * - `now` is before the expiry of the code,
     * - the generation of the code is not before that of the last disabling,
     * - the challenge is the code's, or both have none,
     * - the resource of the code is one of those, and
     * - the redirect URI is the code's. It may be left out if the code has a challenge, or if its
     *   authorization request left it out. If the code has none, any is ignored.
     *
     * Otherwise null, and nothing is changed. Under concurrent calls exactly one caller receives the
     * grant; the others receive null.
     */
    redeemCode: db.sequence(
      // One write: two calls can't both redeem, and no crash spends a code without a grant.
      (steps) =>
        steps.changeAllowed(
          grants,
          (code: Givens<Redemption>) => ({
            where: [
              {
                id: code.grant_id,
                application_id: code.application_id,
                code_hash: code.code_hash,
                created_at: null,
                code_expires_at: moreThan(code.now),
                generation: atLeast(code.disabled_generation),
                code_challenge: code.code_challenge,
              },
              // A code without a redirect URI ignores any. Its challenge stands in for a missing one.
              when(code.redirect_uri, { redirect_uri: oneOf([code.redirect_uri, null]) }),
              unless(code.redirect_uri, unless(code.code_challenge, { redirect_uri_given: false })),
              when(code.resources, { resource: oneOf(code.resources) }),
            ],
            set: {
              created_at: code.now,
              secret_hash: code.secret_hash,
              code_expires_at: null,
              redeemed_by: code.initiator,
            },
          }),
          REDEEMED,
          // Only a mark ends a code: none has its own `revoked_at`.
          UNENDED,
          (found, { grant_id, application_id }) =>
            ({ grant_id, application_id, ...found }) as GrantRecord,
          { grant_id },
        ),
      { grant_id },
    ),

    /**
     * The state of a code, also after its redemption. Null if there is no record of it, or only a
     * `RevokedRecord`.
     */
    findCode: (grant_id: string) => find({ grant_id }),

    /** Deletes a pending code, expired or not; null if there is none. */
    async cancelCode(grant_id: string): Promise<PendingRecord | null> {
      const isThere = (await find({ grant_id })) !== null;
      return isThere ? cancel({ grant_id }) : null;
    },

    /** The pending codes of an account, newest first, with expired ones that are still stored. */
    async listCodes(account_id: string): Promise<PendingRecord[]> {
      const codes = await shown(await list({ account_id }));
      return codes.filter(({ revoked_at }) => revoked_at === null).map(pendingRecord);
    },

    /**
     * Counts the pending codes that expire after `now`, up to `limit`, which bounds the time too. For
     * monitoring: it may miss the latest changes.
     */
    countPendingCodes: db.count(grants, ({ now }: Givens<{ now: number }>) => ({
      code_expires_at: moreThan(now),
    })),
  };
}

type NewCodeFields = Omit<NewCode, 'grant_id' | 'initiator'> & Pick<Stored, 'id' | 'issued_by'>;

const pendingRecord = partOf<PendingRecord, (typeof PENDING)[number]>(PENDING);

const stateOf = picking(STATE);
