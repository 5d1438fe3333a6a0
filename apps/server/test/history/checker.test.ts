import { type ErrorCode, type EventType, errorDefinition } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { check, describeViolation } from './checker.ts';
import type { Answer, Call, CallOperation } from './history.ts';
import { rules } from './rules.ts';

// A history is written as it is read: who did what, from when to when, and what came of it.

type Extra = Partial<Omit<Call, 'answer'>> & { answer?: Partial<Answer> };

function call(
  id: string,
  operation: CallOperation,
  [start, end]: [number, number | null],
  { answer = {}, ...rest }: Extra = {},
): Call {
  return {
    ...{ id, operation, grant: 'g', server: 'A', wire: 'REST', start, end },
    ...(['convert', 'recover', 'revoke'].includes(operation) && { application: 'own' as const }),
    ...rest,
    answer: end === null ? null : { ...{ status: 200 }, ...answer },
  };
}
const error = (error_code: ErrorCode): Extra => ({
  answer: { error_code, status: errorDefinition(error_code).status },
});
const withSecretOf = (secret: string): Extra => ({ secret });

const issue = call('issue', 'issue', [0, 1], { account: 'm' });
const convert = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'convert', time, extra);
const recover = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'recover', time, extra);
const revoke = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'revoke', time, extra);
const erase = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'erase', time, extra);
const endAll = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'end_all', time, { account: 'm', ...extra });
const disconnect = (id: string, time: [number, number | null]) => call(id, 'disconnect', time);
const find = (id: string, time: [number, number | null], answer: Partial<Answer>) =>
  call(id, 'find', time, { answer });
const use = (secret: string, id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'authenticate', time, { ...withSecretOf(secret), ...extra });

const useKey = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'use_key', time, extra);
const deleteKey = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'delete_key', time, extra);

const pin = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'pin', time, extra);
const unpin = (id: string, time: [number, number | null], extra?: Extra) =>
  call(id, 'unpin', time, extra);
/** @param shown - the pin that it shows */
const link = (id: string, time: [number, number | null], shown: string) =>
  call(id, 'begin_link', time, { answer: { shown } });
const read = (id: string, time: [number, number | null], shown: string) =>
  call(id, 'read', time, { answer: { shown } });

const hear = (id: string, at: number, type: EventType, answer: Partial<Answer> = {}) =>
  call(id, 'hear', [at, at], {
    answer: { type, message: `evt_${type}`, body: type, accepted: true, ...answer },
  });
const quiet = call('quiet', 'quiet', [99, 99]);

const used = error('code_already_used');
const invalid = error('credentials_invalid');
const unknown = error('grant_not_found');
const notAdmitted = error('client_unknown');
const notThere = error('client_document_unavailable');
const notPinned = error('document_not_found');
const tooLate = error('grant_not_recoverable');
const byOther = (extra: Extra): Extra => ({ ...extra, application: 'other' });

interface Case {
  /** Breaks the rule, and these calls prove it. */
  broken: Call[];
  proof: string[];
  /** All but breaks it, and breaks no other either. */
  kept: Call[];
}

const cases: Record<string, Case[]> = {
  'one-success': [
    {
      broken: [convert('a', [2, 9]), convert('b', [3, 8])],
      proof: ['a', 'b'],
      kept: [convert('a', [2, 9]), convert('b', [3, null])],
    },
  ],
  'spent-stays-spent': [
    {
      broken: [convert('a', [2, null]), convert('b', [3, 4], used), convert('c', [5, 6])],
      proof: ['b', 'c'],
      kept: [convert('a', [2, null]), convert('b', [3, 5], used), convert('c', [5, 6])],
    },
  ],
  'own-verifier-only': [
    {
      broken: [convert('a', [2, 3], { mistaken: 'verifier' })],
      proof: ['a'],
      kept: [
        convert('a', [2, 3], { ...error('code_verifier_mismatch'), mistaken: 'verifier' }),
        convert('b', [2, null], { mistaken: 'verifier' }),
        convert('c', [4, 5]),
      ],
    },
  ],
  'own-resource-only': [
    {
      broken: [convert('a', [2, 3], { mistaken: 'resource' })],
      proof: ['a'],
      kept: [
        convert('a', [2, 3], { ...error('target_mismatch'), mistaken: 'resource' }),
        convert('b', [4, 5]),
        use('b', 'c', [6, 7], { ...invalid, mistaken: 'resource' }),
      ],
    },
    {
      broken: [convert('a', [2, 3]), use('a', 'b', [4, 5], { mistaken: 'resource' })],
      proof: ['b'],
      kept: [convert('a', [2, 3]), use('a', 'b', [4, 5])],
    },
  ],
  'own-application-only': [
    {
      broken: [convert('a', [2, 3], { application: 'other' })],
      proof: ['a'],
      kept: [convert('a', [2, 3], byOther(error('code_not_found')))],
    },
    {
      // It would tell that there is such a code.
      broken: [convert('a', [2, 3]), convert('b', [4, 5], byOther(used))],
      proof: ['b'],
      kept: [convert('a', [2, 3]), revoke('b', [4, 5], byOther(unknown))],
    },
  ],
  'answers-of-the-contract': [
    {
      broken: [convert('a', [2, 3], error('internal_error'))],
      proof: ['a'],
      kept: [convert('a', [2, 3], error('store_unavailable'))],
    },
    {
      broken: [convert('a', [2, 3], error('credentials_invalid'))],
      proof: ['a'],
      kept: [convert('a', [2, 3], error('outcome_unknown'))],
    },
    {
      broken: [
        convert('a', [2, 3]),
        revoke('b', [4, 5], { answer: { error_code: 'store_unavailable', status: 500 } }),
      ],
      proof: ['b'],
      kept: [convert('a', [2, 3]), revoke('b', [4, 5], error('store_unavailable'))],
    },
  ],
  'answers-the-question': [
    {
      broken: [convert('a', [2, 3], { answer: { grant: 'another' } })],
      proof: ['a'],
      kept: [convert('a', [2, 3], { answer: { grant: 'g' } })],
    },
  ],
  'code-is-known': [
    {
      broken: [endAll('a', [-3, -2]), convert('b', [2, 3], error('code_not_found'))],
      proof: ['issue', 'b'],
      kept: [endAll('a', [-3, null]), convert('b', [2, 3], error('code_not_found'))],
    },
    {
      broken: [convert('a', [2, 3], error('code_not_found'))],
      proof: ['issue', 'a'],
      kept: [convert('a', [2, 3])],
    },
    {
      broken: [convert('a', [2, 300e9 - 1], error('code_expired'))],
      proof: ['issue', 'a'],
      kept: [convert('a', [2, 300e9], error('code_expired'))],
    },
  ],
  'nothing-from-nothing': [
    {
      broken: [convert('a', [2, 3], error('store_unavailable')), convert('b', [4, 5], used)],
      proof: ['b'],
      kept: [convert('a', [2, 3], error('outcome_unknown')), convert('b', [4, 5], used)],
    },
    {
      // Too late for it.
      broken: [convert('a', [6, 7]), recover('b', [4, 5])],
      proof: ['b'],
      kept: [convert('a', [4, 7]), recover('b', [4, 5])],
    },
    {
      broken: [find('a', [2, 3], { found: true, revoked: false })],
      proof: ['a'],
      kept: [find('a', [2, 3], { found: false })],
    },
    {
      // An exchange whose grant is recovered before the store could look back: "already used" is
      // the truth only where there was such a recovery meanwhile.
      broken: [convert('a', [2, 3], used), recover('b', [4, 5])],
      proof: ['a'],
      kept: [convert('a', [2, 9], used), recover('b', [4, 5])],
    },
  ],
  'exchanged-stays-exchanged': [
    {
      broken: [convert('a', [2, 3]), revoke('b', [4, 5], unknown)],
      proof: ['a', 'b'],
      kept: [convert('a', [2, 4]), revoke('b', [4, 5], unknown)],
    },
    {
      broken: [convert('a', [2, 3]), recover('b', [4, 5], unknown), revoke('c', [6, 7])],
      proof: ['a', 'b'],
      kept: [convert('a', [2, 3]), recover('b', [4, 5], unknown), revoke('c', [4, 7])],
    },
    {
      broken: [convert('a', [2, 3]), find('b', [4, 5], { found: false })],
      proof: ['a', 'b'],
      kept: [convert('a', [2, null]), find('b', [4, 5], { found: false })],
    },
  ],
  'secret-works': [
    {
      broken: [convert('a', [2, 3]), use('a', 'b', [4, 5], invalid), revoke('c', [6, 7])],
      proof: ['a', 'b'],
      kept: [convert('a', [2, 3]), use('a', 'b', [4, 7], invalid), revoke('c', [6, null])],
    },
    {
      // A recovery before the one that the secret came with does not excuse it.
      broken: [
        convert('a', [2, 3]),
        recover('b', [4, 5]),
        recover('c', [6, 7]),
        use('c', 'd', [8, 9], invalid),
      ],
      proof: ['c', 'd'],
      kept: [
        convert('a', [2, 3]),
        recover('b', [4, null]),
        recover('c', [6, 7]),
        use('c', 'd', [8, 9], invalid),
      ],
    },
    {
      // What promised that nothing was changed excuses nothing.
      broken: [
        convert('a', [2, 3]),
        revoke('b', [4, 5], error('store_unavailable')),
        use('a', 'c', [6, 7], invalid),
      ],
      proof: ['a', 'c'],
      kept: [
        convert('a', [2, 3]),
        revoke('b', [4, 5], error('outcome_unknown')),
        use('a', 'c', [6, 7], invalid),
      ],
    },
    {
      // But of an erasure, what was done before it failed stays done.
      broken: [
        convert('a', [2, 3]),
        revoke('b', [4, 5], error('store_unavailable')),
        use('a', 'c', [6, 7], invalid),
      ],
      proof: ['a', 'c'],
      kept: [
        convert('a', [2, 3]),
        erase('b', [4, 5], error('outcome_unknown')),
        use('a', 'c', [6, 7], invalid),
      ],
    },
  ],
  'revoked-is-dead': [
    {
      broken: [convert('a', [2, 3]), revoke('b', [4, 5]), use('a', 'c', [6, 7])],
      proof: ['b', 'c'],
      kept: [convert('a', [2, 3]), revoke('b', [4, 5]), use('a', 'c', [5, 7])],
    },
    {
      broken: [convert('a', [2, 3]), revoke('b', [4, 5]), recover('c', [6, 7])],
      proof: ['b', 'c'],
      kept: [convert('a', [2, 3]), revoke('b', [4, null]), recover('c', [6, 7])],
    },
    {
      broken: [
        convert('a', [2, 3]),
        revoke('b', [4, 5]),
        find('c', [6, 7], { found: true, revoked: false }),
      ],
      proof: ['b', 'c'],
      kept: [
        convert('a', [2, 3]),
        revoke('b', [4, 5]),
        find('c', [6, 7], { found: true, revoked: true }),
      ],
    },
  ],
  'erased-is-dead': [
    {
      broken: [convert('a', [2, 3]), erase('b', [4, 5]), use('a', 'c', [6, 7])],
      proof: ['b', 'c'],
      kept: [
        convert('a', [2, 3]),
        erase('b', [4, 5]),
        use('a', 'c', [5, 7]),
        use('a', 'd', [6, 7], error('credentials_invalid')),
      ],
    },
    {
      broken: [erase('a', [2, 3]), convert('b', [4, 5])],
      proof: ['a', 'b'],
      kept: [erase('a', [2, 3]), convert('b', [4, 5], error('code_not_found'))],
    },
    {
      broken: [
        convert('a', [2, 3]),
        erase('b', [4, 5]),
        find('c', [6, 7], { found: true, revoked: false }),
      ],
      proof: ['b', 'c'],
      kept: [
        convert('a', [2, 3]),
        erase('b', [4, 5]),
        find('c', [6, 7], { found: true, revoked: true }),
      ],
    },
  ],
  'disconnected-is-dead': [
    {
      broken: [convert('a', [2, 3]), disconnect('b', [4, 5]), use('a', 'c', [6, 7])],
      proof: ['b', 'c'],
      kept: [convert('a', [2, 3]), disconnect('b', [4, 6]), use('a', 'c', [5, 7])],
    },
    {
      broken: [disconnect('a', [2, 3]), convert('b', [4, 5])],
      proof: ['a', 'b'],
      kept: [disconnect('a', [2, 3]), convert('b', [4, 5], error('code_not_found'))],
    },
    {
      broken: [
        convert('a', [2, 3]),
        disconnect('b', [4, 5]),
        find('c', [6, 7], { found: true, revoked: false }),
      ],
      proof: ['b', 'c'],
      kept: [
        convert('a', [2, 3]),
        disconnect('b', [4, 5]),
        find('c', [6, 7], { found: true, revoked: true }),
      ],
    },
  ],
  'marked-is-dead': [
    {
      broken: [convert('a', [2, 3]), endAll('b', [4, 5]), use('a', 'c', [6, 7])],
      proof: ['b', 'c'],
      kept: [convert('a', [2, 3]), endAll('b', [4, 6]), use('a', 'c', [5, 7])],
    },
    {
      // Asked about another grant of the account.
      broken: [endAll('a', [2, 3], { grant: 'h' }), convert('b', [4, 5])],
      proof: ['a', 'b'],
      kept: [endAll('a', [2, 3], { grant: 'h', account: 'n' }), convert('b', [4, 5])],
    },
    {
      broken: [convert('a', [-1, 3]), endAll('b', [2, 4]), recover('c', [5, 6])],
      proof: ['b', 'c'],
      // One was answered before the code was issued, one was asked meanwhile.
      kept: [
        ...[endAll('a', [-3, -2]), endAll('d', [0, 1.5])],
        ...[convert('b', [2, 3]), use('b', 'c', [4, 5])],
      ],
    },
  ],
  'revoked-by-somebody': [
    {
      broken: [
        convert('a', [2, 3]),
        revoke('b', [4, 5], error('store_unavailable')),
        find('c', [6, 7], { found: true, revoked: true }),
      ],
      proof: ['c'],
      kept: [
        convert('a', [2, 3]),
        revoke('b', [4, null]),
        find('c', [6, 7], { found: true, revoked: true }),
      ],
    },
  ],
  'recovered-is-dead': [
    {
      broken: [convert('a', [2, 3]), recover('b', [4, 5]), use('a', 'c', [6, 7])],
      proof: ['a', 'b', 'c'],
      kept: [convert('a', [2, 3]), recover('b', [4, 6]), use('a', 'c', [6, 7])],
    },
  ],
  'used-is-not-recoverable': [
    {
      broken: [convert('a', [2, 3]), use('a', 'b', [4, 5]), recover('c', [6, 7])],
      proof: ['b', 'c'],
      kept: [convert('a', [2, 3]), use('a', 'b', [4, 6]), recover('c', [6, 7])],
    },
    {
      broken: [
        convert('a', [2, 3]),
        use('a', 'b', [4, null]),
        recover('c', [5, 6], tooLate),
        recover('d', [7, 8]),
      ],
      proof: ['c', 'd'],
      kept: [
        convert('a', [2, 3]),
        use('a', 'b', [4, null]),
        recover('c', [5, 7], tooLate),
        recover('d', [7, 8]),
      ],
    },
  ],
  'unused-is-recoverable': [
    {
      broken: [convert('a', [2, 3]), recover('b', [4, 5], tooLate), use('a', 'c', [6, 7])],
      proof: ['b'],
      kept: [convert('a', [2, 3]), recover('b', [4, 5], tooLate), use('a', 'c', [4, 7])],
    },
  ],
  'one-secret-ever-works': [
    {
      broken: [
        convert('a', [2, 3]),
        recover('b', [2, 9]),
        use('a', 'c', [4, 9]),
        use('b', 'd', [10, 11]),
      ],
      proof: ['c', 'd'],
      kept: [
        convert('a', [2, 3]),
        recover('b', [2, 9]),
        use('a', 'c', [4, 9], invalid),
        use('b', 'd', [10, 11]),
      ],
    },
  ],
  'dead-stays-dead': [
    {
      broken: [
        convert('a', [2, 3]),
        revoke('b', [4, null]),
        use('a', 'c', [5, 6], invalid),
        use('a', 'd', [7, 8]),
      ],
      proof: ['c', 'd'],
      kept: [
        convert('a', [2, 3]),
        revoke('b', [4, null]),
        use('a', 'c', [5, 7], invalid),
        use('a', 'd', [7, 8]),
      ],
    },
  ],
  'grant-has-a-secret': [
    {
      // Each recovery could be the last, but not each be followed by the other.
      broken: [
        convert('a', [2, 3]),
        recover('b', [4, 7]),
        recover('c', [4, 7]),
        use('a', 'd', [8, 9], invalid),
        use('b', 'e', [8, 9], invalid),
        use('c', 'f', [8, 9], invalid),
      ],
      proof: ['a', 'b', 'c', 'd', 'e', 'f'],
      kept: [
        convert('a', [2, 3]),
        recover('b', [4, 7]),
        recover('c', [4, null]),
        use('a', 'd', [8, 9], invalid),
        use('b', 'e', [8, 9], invalid),
      ],
    },
  ],
  'one-created-at': [
    {
      broken: [
        convert('a', [2, 3], { answer: { created_at: '1' } }),
        revoke('b', [4, 5], { answer: { created_at: '2' } }),
      ],
      proof: ['a', 'b'],
      kept: [
        convert('a', [2, 3], { answer: { created_at: '1' } }),
        revoke('b', [4, 5], { answer: { created_at: '1' } }),
      ],
    },
  ],
  'deleted-key-is-dead': [
    {
      broken: [deleteKey('a', [2, 3]), useKey('b', [4, 5])],
      proof: ['a', 'b'],
      kept: [deleteKey('a', [2, 4]), useKey('b', [3, 5]), useKey('c', [6, 7], invalid)],
    },
    {
      // It was deleted by the first, whose answer was lost.
      broken: [
        deleteKey('a', [2, null]),
        deleteKey('b', [3, 4], error('key_not_found')),
        useKey('c', [5, 6]),
      ],
      proof: ['b', 'c'],
      kept: [
        deleteKey('a', [2, null]),
        useKey('b', [5, 6]),
        deleteKey('c', [7, 8], error('key_not_found')),
      ],
    },
    {
      broken: [deleteKey('a', [2, null]), useKey('b', [3, 4], invalid), useKey('c', [5, 6])],
      proof: ['b', 'c'],
      kept: [deleteKey('a', [2, null]), useKey('b', [3, 5], invalid), useKey('c', [4, 6])],
    },
  ],
  'key-works': [
    {
      broken: [useKey('a', [2, 3], invalid), deleteKey('b', [4, 5])],
      proof: ['a'],
      kept: [useKey('a', [2, 5], invalid), deleteKey('b', [4, 6])],
    },
    {
      broken: [deleteKey('a', [2, 3], error('key_not_found'))],
      proof: ['a'],
      kept: [deleteKey('a', [2, null]), deleteKey('b', [3, 4], error('key_not_found'))],
    },
    {
      // What promised that nothing was changed excuses nothing.
      broken: [deleteKey('a', [2, 3], error('store_unavailable')), useKey('b', [4, 5], invalid)],
      proof: ['b'],
      kept: [deleteKey('a', [2, 3], error('outcome_unknown')), useKey('b', [4, 5], invalid)],
    },
  ],
  'put-is-there': [
    {
      broken: [pin('a', [2, 3]), call('b', 'begin_link', [4, 5], notAdmitted)],
      proof: ['a', 'b'],
      kept: [
        ...[pin('a', [2, 4]), call('b', 'begin_link', [3, 5], notAdmitted)],
        ...[unpin('c', [6, null]), call('d', 'begin_link', [7, 8], notThere)],
      ],
    },
    {
      broken: [unpin('a', [1, 2], notPinned), pin('b', [3, 4]), unpin('c', [5, 6], notPinned)],
      proof: ['b', 'c'],
      // The unpin without an answer may have been done after the pin.
      kept: [unpin('a', [1, null]), pin('b', [3, 4]), unpin('c', [5, 6], notPinned)],
    },
  ],
  'latest-put-alone': [
    {
      broken: [call('a', 'put', [2, 3]), read('b', [4, 5], 'new')],
      proof: ['b'],
      // As it was created.
      kept: [read('a', [2, 3], 'new'), call('b', 'put', [2, 4]), read('c', [3, 5], 'new')],
    },

    {
      broken: [pin('a', [2, 3]), pin('b', [4, 5]), link('c', [6, 7], 'a')],
      proof: ['a', 'b', 'c'],
      kept: [pin('a', [2, 3]), pin('b', [4, 6]), link('c', [5, 7], 'a'), link('d', [7, 8], 'b')],
    },
    {
      broken: [pin('a', [2, 3]), unpin('b', [4, 5]), link('c', [6, 7], 'a')],
      proof: ['a', 'b', 'c'],
      // The pin without an answer may have been made after the unpin.
      kept: [pin('a', [2, null]), unpin('b', [4, 5]), link('c', [6, 7], 'a')],
    },
    {
      broken: [
        ...[pin('a', [2, 3]), unpin('b', [4, null])],
        ...[unpin('c', [5, 6], notPinned), link('d', [7, 8], 'a')],
      ],
      proof: ['a', 'c', 'd'],
      kept: [
        ...[pin('a', [2, 3]), unpin('b', [4, null])],
        ...[unpin('c', [5, 7], notPinned), link('d', [6, 8], 'a')],
      ],
    },
    {
      // What promised that nothing was changed is nowhere.
      broken: [pin('a', [2, 3], error('store_unavailable')), link('b', [4, 5], 'a')],
      proof: ['b'],
      kept: [pin('a', [2, 3], error('outcome_unknown')), link('b', [4, 5], 'a')],
    },
  ],
  'every-switch-is-told': [
    {
      broken: [call('a', 'disable', [2, 3]), call('b', 'remove', [4, 5]), quiet],
      proof: ['a', 'quiet'],
      kept: [call('a', 'disable', [2, null]), call('b', 'enable', [4, 5]), quiet],
    },
    {
      broken: [
        ...[call('a', 'disable', [2, 3]), call('b', 'enable', [4, 5])],
        ...[call('c', 'disable', [6, 7]), hear('d', 8, 'application.disabled')],
        ...[hear('e', 8, 'application.disabled'), hear('f', 8, 'application.enabled'), quiet],
      ],
      proof: ['a', 'c', 'quiet'],
      // The second one has changed nothing.
      kept: [
        ...[call('a', 'disable', [2, 3]), call('b', 'disable', [4, 5])],
        ...[hear('c', 8, 'application.disabled'), quiet],
      ],
    },
  ],
  'every-change-is-told': [
    {
      broken: [convert('a', [2, 3]), quiet],
      proof: ['a', 'quiet'],
      kept: [convert('a', [2, null]), quiet],
    },
    {
      // A message that was refused has to come again.
      broken: [convert('a', [2, 3]), hear('b', 4, 'grant.created', { accepted: false }), quiet],
      proof: ['a', 'quiet'],
      kept: [convert('a', [2, 3]), hear('b', 4, 'grant.created'), quiet],
    },
    {
      broken: [
        ...[convert('a', [2, 3]), hear('b', 4, 'grant.created'), revoke('c', [5, 6]), quiet],
      ],
      proof: ['c', 'quiet'],
      kept: [
        ...[convert('a', [2, 3]), hear('b', 4, 'grant.created'), revoke('c', [5, 6])],
        ...[hear('d', 6, 'grant.revoked'), quiet],
      ],
    },
    {
      broken: [convert('a', [2, 3]), hear('b', 4, 'grant.created'), erase('c', [5, 6]), quiet],
      proof: ['c', 'quiet'],
      // There may have been no grant yet, and the code is over.
      kept: [convert('a', [2, null]), erase('c', [5, 6]), quiet],
    },
  ],
  'told-is-done': [
    {
      broken: [convert('a', [3, 5]), hear('b', 2, 'grant.created')],
      proof: ['b'],
      kept: [convert('a', [2, 5]), hear('b', 3, 'grant.created')],
    },
    {
      broken: [convert('a', [2, 3]), hear('b', 4, 'grant.revoked'), revoke('c', [5, 6])],
      proof: ['b'],
      kept: [convert('a', [2, 3]), revoke('c', [4, null]), hear('b', 5, 'grant.revoked')],
    },
  ],
  'told-end-is-final': [
    {
      broken: [
        ...[convert('a', [2, 3]), revoke('b', [4, null]), hear('c', 5, 'grant.revoked')],
        use('a', 'd', [6, 7]),
      ],
      proof: ['c', 'd'],
      kept: [
        ...[convert('a', [2, 3]), revoke('b', [4, null]), hear('c', 6, 'grant.revoked')],
        use('a', 'd', [5, 7]),
      ],
    },
  ],
  'repeats-are-the-same': [
    {
      broken: [
        ...[convert('a', [2, 3]), hear('b', 4, 'grant.created')],
        hear('c', 5, 'grant.created', { message: 'evt_other' }),
      ],
      proof: ['b', 'c'],
      kept: [
        ...[convert('a', [2, 3]), hear('b', 4, 'grant.created')],
        hear('c', 5, 'grant.created', { accepted: false }),
      ],
    },
    {
      broken: [
        ...[convert('a', [2, 3]), hear('b', 4, 'grant.created')],
        hear('c', 5, 'grant.created', { body: 'another' }),
      ],
      proof: ['b', 'c'],
      kept: [
        ...[convert('a', [2, 3]), revoke('b', [4, 5]), hear('c', 6, 'grant.created')],
        hear('d', 6, 'grant.revoked'),
      ],
    },
  ],
};

test.each(rules)('the rule $name has its cases', ({ name }) => {
  expect(cases[name]?.length).toBeGreaterThan(0);
});

describe.each(Object.entries(cases))('%s', (rule, list) => {
  test.each(list)('is seen where it is broken, and not where it is just kept: $#', (item) => {
    const found = check([issue, ...item.broken]).find((violation) => violation.rule === rule);
    expect(found?.calls.map(({ id }) => id)).toEqual(item.proof);
    expect(check([issue, ...item.kept])).toEqual([]);
  });
});

test('grants have nothing to do with each other', () => {
  const other = { grant: 'h' };
  const history = [issue, convert('a', [2, 3]), call('issue-h', 'issue', [0, 1], other)];
  expect(check([...history, convert('b', [2, 3], other)])).toEqual([]);
});

test('a violation reads as a story', () => {
  const story = [
    convert('client-1/7', [2e6, 3e6]),
    revoke('client-2/9', [4e6, 5.5e6]),
    use('client-1/7', 'client-3/8', [6e6, 7e6], { server: 'B', wire: 'tRPC' }),
  ];
  const text = check([issue, ...story.reverse()])
    .map(describeViolation)
    .join('\n');
  expect(text).toBe(
    [
      'g breaks revoked-is-dead: Nothing succeeds with a grant that began after its revocation was acknowledged.',
      '  client-2/9   4.000 to 5.500 ms        A REST  revoke g: 200',
      '  client-3/8   6.000 to 7.000 ms        B tRPC  authenticate g with the secret of client-1/7: 200',
    ].join('\n'),
  );
});
