import { type ErrorCode, errorDefinition } from '@latchkey/schema';
import type { GrantCalls } from './grant-calls.ts';
import type { Call, Mistake } from './history.ts';
import {
  canFollow,
  canPrecede,
  isBefore,
  isDone,
  isRefused,
  mayBeDone,
  showsExchange,
} from './outcomes.ts';

/** What has to hold for the calls about each code and its grant, in whatever order they ran. */
export interface Rule {
  name: string;
  /** What holds, in words. */
  says: string;
  /** The calls that show it does not; undefined where it does. */
  broken(calls: GrantCalls): Call[] | undefined;
}

const CODE_LIFETIME_NS = 300e9;

const AT_ANY_TIME = ['store_unavailable', 'outcome_unknown'];

/** What a link is refused with, either way: its pin may go while it is read. */
const NOTHING_PINNED = ['client_unknown', 'client_document_unavailable', 'client_document_invalid'];

const NO_RECORD = ['account_not_found', 'application_not_found', 'endpoint_not_found'];

/** What a record shows before anything was put. */
const AS_CREATED = 'new';

/** The errors of each operation: here every request is well formed and has a valid secret. */
const ownErrors: Partial<Record<Call['operation'], readonly string[]>> = {
  convert: ['code_not_found', 'code_expired', 'code_already_used'],
  recover: ['grant_not_found', 'grant_not_recoverable'],
  revoke: ['grant_not_found'],
  authenticate: ['credentials_invalid'],
  use_key: ['credentials_invalid'],
  delete_key: ['key_not_found'],
  unpin: ['document_not_found'],
  begin_link: NOTHING_PINNED,
  put: NO_RECORD,
  read: NO_RECORD,
  disable: NO_RECORD,
  enable: NO_RECORD,
  // Disabling it has failed.
  remove: [...NO_RECORD, 'application_enabled'],
};
const othersErrors: Partial<Record<Call['operation'], readonly string[]>> = {
  convert: ['code_not_found', 'code_expired'],
  recover: ['grant_not_found'],
  revoke: ['grant_not_found'],
};
const mistakesErrors: Record<Mistake, Partial<Record<Call['operation'], readonly string[]>>> = {
  verifier: { convert: ['code_not_found', 'code_expired', 'code_verifier_mismatch'] },
  resource: {
    convert: ['code_not_found', 'code_expired', 'target_mismatch'],
    authenticate: ['credentials_invalid'],
  },
};

function errorsOf({ application, mistaken }: Call) {
  if (application === 'other') return othersErrors;
  return mistaken ? mistakesErrors[mistaken] : ownErrors;
}

/** The first pair for which something holds. */
function pair(
  ones: readonly Call[],
  others: readonly Call[],
  holds: (one: Call, other: Call) => boolean,
): [Call, Call] | undefined {
  for (const one of ones) {
    const other = others.find((candidate) => candidate !== one && holds(one, candidate));
    if (other) return [one, other];
  }
  return undefined;
}

function single(call: Call | undefined): [Call] | undefined {
  return call && [call];
}

const isExchange = ({ operation }: Call) => operation === 'convert';

/** Whether the code may have been exchanged when a call took effect, by another call than that. */
function canBeExchanged({ converts, recovers, endings }: GrantCalls, by: Call): boolean {
  return converts.some((convert) => {
    if (!canPrecede(convert, by)) return false;
    if (convert !== by && mayBeDone(convert)) return true;
    // Its write may have been made all the same, where the database's answer got lost and the grant
    // was recovered or revoked before the store could look: the secret is dead then, and "already
    // used" is what helps.
    return (
      isRefused(convert, 'code_already_used') &&
      [...recovers, ...endings].some(
        (call) => mayBeDone(call) && canPrecede(convert, call) && canPrecede(call, convert),
      )
    );
  });
}

/** The first end after which something of a code and its grant is alive. */
function aliveAfter(
  ends: readonly Call[],
  {
    converts,
    authentications,
    recovers,
    finds,
  }: Pick<GrantCalls, 'converts' | 'authentications' | 'recovers' | 'finds'>,
): [Call, Call] | undefined {
  const uses = [...converts, ...authentications, ...recovers, ...finds];
  return pair(ends, uses, (end, later) => {
    const alive = later.operation === 'find' ? later.answer?.revoked === false : isDone(later);
    return isDone(end) && alive && isBefore(end, later);
  });
}

/** Whether an answer can only be so once the grant had ended. */
function showsEnd(call: Call, { converts, allEndings }: GrantCalls): boolean {
  if (call.operation === 'find') return call.answer?.revoked === true;
  if (!isDone(call)) return false;
  if (call.operation === 'revoke') return true;
  return (
    allEndings.includes(call) &&
    converts.some((convert) => isDone(convert) && isBefore(convert, call))
  );
}

const isMissed = (call: Call) =>
  [...NOTHING_PINNED, ...NO_RECORD, 'document_not_found'].some((error_code) =>
    isRefused(call, error_code),
  );

const tells = (type: string) => (hear: Call) => hear.answer?.type === type;
const tellsEnd = tells('grant.revoked');
const tellsGrant = (hear: Call) => hear.answer?.type?.startsWith('grant.') ?? false;

/** Every rule. None looks at a single order of the calls: each holds in all that are possible. */
export const rules: readonly Rule[] = [
  {
    name: 'one-success',
    says: 'A code is exchanged at most once.',
    broken({ converts }) {
      const done = converts.filter(isDone);
      return done.length > 1 ? done : undefined;
    },
  },
  {
    name: 'spent-stays-spent',
    says: 'No exchange succeeds that began after an answer showed the code to be spent.',
    broken: ({ all, converts }) =>
      pair(all, converts, (one, convert) => {
        return showsExchange(one) && isDone(convert) && isBefore(one, convert);
      }),
  },
  {
    name: 'own-application-only',
    says: 'To every other application than its own, a code and its grant do not exist.',
    broken: ({ others }) =>
      single(
        others.find(({ operation, answer }) => {
          const allowed = [...(othersErrors[operation] ?? []), ...AT_ANY_TIME];
          return answer !== null && !allowed.includes(answer.error_code ?? '');
        }),
      ),
  },
  {
    name: 'own-verifier-only',
    says: 'No exchange succeeds with a verifier that is not that of the code, nor with one for a code that has no challenge.',
    broken: ({ mistakes }) =>
      single(mistakes.find((call) => call.mistaken === 'verifier' && isDone(call))),
  },
  {
    name: 'own-resource-only',
    says: 'No exchange succeeds for another resource than that of the code, and no grant passes the guard of another one.',
    broken: ({ mistakes }) =>
      single(mistakes.find((call) => call.mistaken === 'resource' && isDone(call))),
  },
  {
    name: 'answers-of-the-contract',
    says: 'Every answer is a success or an error of the operation, under its status; never 500.',
    broken: ({ all }) =>
      single(
        all.find((call) => {
          const { operation, answer } = call;
          if (answer === null || answer.status === 200) return false;
          const allowed = [...(errorsOf(call)[operation] ?? []), ...AT_ANY_TIME];
          const { status, error_code = '' } = answer;
          return (
            !allowed.includes(error_code) ||
            errorDefinition(error_code as ErrorCode).status !== status
          );
        }),
      ),
  },
  {
    name: 'answers-the-question',
    says: 'An answer names the grant that was asked about, and no other.',
    broken: ({ all }) =>
      single(
        all.find(({ grant, answer }) => answer?.grant !== undefined && answer.grant !== grant),
      ),
  },
  {
    name: 'code-is-known',
    says: 'To its own application a code is neither expired before its 300 seconds, nor unknown unless its account may have been erased or disconnected, or all of it ended.',
    broken({ issue, converts, mistakes, allEndings }) {
      const wrong = [...converts, ...mistakes.filter(isExchange)].find(
        (convert) =>
          (isRefused(convert, 'code_not_found') &&
            !allEndings.some((end) => mayBeDone(end) && canPrecede(end, convert))) ||
          (isRefused(convert, 'code_expired') &&
            issue !== undefined &&
            (convert.end ?? 0) - issue.start < CODE_LIFETIME_NS),
      );
      return wrong && issue && [issue, wrong];
    },
  },
  {
    name: 'nothing-from-nothing',
    says: 'No answer presupposes an exchange that no call can have made by then.',
    broken: (calls) =>
      single(
        calls.all.find(
          (call) =>
            showsExchange(call) &&
            !(call.operation === 'convert' && isDone(call)) &&
            call.application !== 'other' &&
            !canBeExchanged(calls, call),
        ),
      ),
  },
  {
    name: 'exchanged-stays-exchanged',
    says: 'Once an answer has shown a grant, it exists: it can be revoked, is listed, and recovering it fails as not found only where it may be revoked.',
    broken: ({ all, recovers, revokes, endings, finds }) =>
      pair(all, [...recovers, ...revokes, ...finds], (one, missed) => {
        const isMissed = isRefused(missed, 'grant_not_found') || missed.answer?.found === false;
        if (!isMissed || !showsExchange(one) || !isBefore(one, missed)) return false;
        const canBeRevoked = endings.some((end) => mayBeDone(end) && canPrecede(end, missed));
        return !(missed.operation === 'recover' && canBeRevoked);
      }),
  },
  {
    name: 'secret-works',
    says: 'A grant secret works until the grant may have been recovered or revoked, or its account erased.',
    broken(calls) {
      const refused = calls.authentications.find((use) => {
        if (!isRefused(use, 'credentials_invalid')) return false;
        const source = calls.sourceOf(use);
        const endedBy = [...calls.endings, ...calls.recovers].some(
          (call) =>
            call !== source && mayBeDone(call) && canPrecede(call, use) && canFollow(call, source),
        );
        return !endedBy;
      });
      return refused && [calls.sourceOf(refused), refused];
    },
  },
  {
    name: 'revoked-is-dead',
    says: 'Nothing succeeds with a grant that began after its revocation was acknowledged.',
    broken: ({ revokes, recovers, authentications, finds }) =>
      pair(revokes, [...authentications, ...recovers, ...finds], (revoke, later) => {
        const alive = later.operation === 'find' ? later.answer?.revoked === false : isDone(later);
        return isDone(revoke) && alive && isBefore(revoke, later);
      }),
  },
  {
    name: 'erased-is-dead',
    says: 'Nothing succeeds with a code or a grant that began after the erasure of its account was acknowledged.',
    broken: (calls) => aliveAfter(calls.erases, calls),
  },
  {
    name: 'disconnected-is-dead',
    says: 'Nothing succeeds with a code or a grant that began after its connection was ended.',
    broken: (calls) => aliveAfter(calls.disconnects, calls),
  },
  {
    name: 'marked-is-dead',
    says: 'Nothing succeeds with a code or a grant that began after all of its account was ended, whatever the clocks say.',
    broken(calls) {
      // What was asked while the code was issued may have come first.
      const { issue, marks } = calls;
      return aliveAfter(
        marks.filter((mark) => issue && isBefore(issue, mark)),
        calls,
      );
    },
  },
  {
    name: 'revoked-by-somebody',
    says: 'A grant is revoked only where somebody asked for it, for the end of its connection, or for the erasure of its account.',
    broken: ({ endings, finds }) =>
      single(
        finds.find(
          (find) =>
            find.answer?.revoked === true &&
            !endings.some((end) => mayBeDone(end) && canPrecede(end, find)),
        ),
      ),
  },
  {
    name: 'recovered-is-dead',
    says: 'A secret does not work in a request that began after a recovery had replaced it.',
    broken(calls) {
      for (const use of calls.authentications.filter(isDone)) {
        const source = calls.sourceOf(use);
        const recover = calls.recovers.find(
          (call) => isDone(call) && isBefore(source, call) && isBefore(call, use),
        );
        if (recover) return [source, recover, use];
      }
      return undefined;
    },
  },
  {
    name: 'used-is-not-recoverable',
    says: 'No recovery succeeds that began after the grant was used, or after it was told so.',
    broken: ({ authentications, recovers }) =>
      pair([...authentications, ...recovers], recovers, (one, recover) => {
        const used =
          one.operation === 'authenticate' ? isDone(one) : isRefused(one, 'grant_not_recoverable');
        return used && isDone(recover) && isBefore(one, recover);
      }),
  },
  {
    name: 'unused-is-recoverable',
    says: 'A recovery is refused as too late only where the grant may have been used.',
    broken: ({ authentications, mistakes, recovers }) => {
      // A guard of another resource has used the grant before it refuses it.
      const uses = [
        ...authentications.filter(mayBeDone),
        ...mistakes.filter((one) => !isExchange(one)),
      ];
      return single(
        recovers.find(
          (recover) =>
            isRefused(recover, 'grant_not_recoverable') &&
            !uses.some((use) => canPrecede(use, recover)),
        ),
      );
    },
  },
  {
    name: 'one-secret-ever-works',
    says: 'Of all secrets of a grant only one ever works, since its first use ends recovery.',
    broken: ({ authentications }) =>
      pair(authentications, authentications, (one, other) => {
        return isDone(one) && isDone(other) && one.secret !== other.secret;
      }),
  },
  {
    name: 'dead-stays-dead',
    says: 'A secret that was refused does not work in a later request.',
    broken: ({ authentications }) =>
      pair(authentications, authentications, (refused, later) => {
        return (
          isRefused(refused, 'credentials_invalid') &&
          isDone(later) &&
          refused.secret === later.secret &&
          isBefore(refused, later)
        );
      }),
  },
  {
    name: 'grant-has-a-secret',
    says: 'Once all is answered, a grant that nobody revoked, of an account that nobody erased, has a secret that works.',
    broken({ converts, recovers, endings, authentications }) {
      const sources = [...converts, ...recovers].filter(mayBeDone);
      const lost = sources.some((source) => !isDone(source));
      if (sources.length === 0 || lost || endings.some(mayBeDone)) return undefined;
      const refusals = sources.map(({ id }) =>
        authentications.find(
          (use) =>
            use.secret === id &&
            isRefused(use, 'credentials_invalid') &&
            sources.every((source) => isBefore(source, use)),
        ),
      );
      const proof = refusals.filter((use) => use !== undefined);
      return proof.length === sources.length ? [...sources, ...proof] : undefined;
    },
  },
  {
    name: 'one-created-at',
    says: 'Every answer tells the same time of the exchange.',
    broken: ({ all }) =>
      pair(all, all, ({ answer: one }, { answer: other }) => {
        return (
          one?.created_at !== undefined &&
          other?.created_at !== undefined &&
          one.created_at !== other.created_at
        );
      }),
  },
  {
    name: 'deleted-key-is-dead',
    says: 'Nothing succeeds with a key that began after an answer showed the key to be deleted.',
    broken: ({ keyDeletions, keyUses }) =>
      pair([...keyDeletions, ...keyUses], [...keyUses, ...keyDeletions], (one, later) => {
        const isGone =
          one.operation === 'delete_key'
            ? isDone(one) || isRefused(one, 'key_not_found')
            : isRefused(one, 'credentials_invalid');
        return isGone && isDone(later) && isBefore(one, later);
      }),
  },
  {
    name: 'key-works',
    says: 'A key works, and can be deleted, until it may have been deleted.',
    broken: ({ keyDeletions, keyUses }) =>
      single(
        [...keyUses, ...keyDeletions].find(
          (call) =>
            (isRefused(call, 'credentials_invalid') || isRefused(call, 'key_not_found')) &&
            !keyDeletions.some(
              (deletion) => deletion !== call && mayBeDone(deletion) && canPrecede(deletion, call),
            ),
        ),
      ),
  },
  {
    name: 'put-is-there',
    says: 'What was pinned or put before a read began is there for it, and can be removed, until it may have been removed.',
    broken: ({ puts, removals, reads }) =>
      pair(puts, [...reads, ...removals], (put, missed) => {
        const canBeGone = removals.some(
          (removal) => mayBeDone(removal) && canPrecede(removal, missed) && canFollow(removal, put),
        );
        return isDone(put) && isMissed(missed) && isBefore(put, missed) && !canBeGone;
      }),
  },
  {
    name: 'latest-put-alone',
    says: 'A read, or a link, shows what somebody put or pinned, and nothing that was replaced or removed before it began.',
    broken({ puts, removals, reads }) {
      const ends = [
        ...puts.filter(isDone),
        ...removals.filter((removal) => isDone(removal) || isMissed(removal)),
      ];
      for (const read of reads.filter(isDone)) {
        // As it was created, when nobody else knew it.
        if (read.answer?.shown === AS_CREATED && !ends.some((end) => isBefore(end, read))) continue;
        const put = puts.find(({ id }) => id === read.answer?.shown);
        if (!put || !mayBeDone(put) || !canPrecede(put, read)) return [read];
        const end = ends.find((one) => !canFollow(put, one) && isBefore(one, read));
        if (end) return [put, end, read];
      }
      return undefined;
    },
  },
  {
    name: 'every-switch-is-told',
    says: 'Once all is quiet, an endpoint has accepted a message of each time that an application was disabled or enabled, also of one that was deleted right behind.',
    broken({ switches, hears, quiets }) {
      const done = switches.filter(isDone);
      for (const operation of ['disable', 'enable'] as const) {
        // It was enabled when it was created.
        const changes = done.filter(
          (call, index) =>
            call.operation === operation && (done[index - 1]?.operation ?? 'enable') !== operation,
        );
        const told = hears.filter(
          ({ answer }) => answer?.accepted && answer.type === `application.${operation}d`,
        );
        const last = changes.at(-1);
        const quiet = last && quiets.find((one) => isBefore(last, one));
        const events = new Set(told.map(({ answer }) => answer?.message));
        if (quiet && events.size < changes.length) return [...changes, quiet];
      }
      return undefined;
    },
  },
  {
    name: 'every-change-is-told',
    says: 'Once all is quiet, an endpoint has accepted the message of each creation and each end of a grant that an answer has shown.',
    broken(calls) {
      const { all, hears, quiets } = calls;
      const accepted = hears.filter(({ answer }) => answer?.accepted);
      const untold = all.find(
        (call) =>
          (showsExchange(call) && !accepted.some(tells('grant.created'))) ||
          (showsEnd(call, calls) && !accepted.some(tellsEnd)),
      );
      const quiet = untold && quiets.find((one) => isBefore(untold, one));
      return quiet && [untold, quiet];
    },
  },
  {
    name: 'told-is-done',
    says: 'A creation or an end is told only once a call may have made it.',
    broken: (calls) =>
      single(
        calls.hears.find(
          (hear) =>
            (tellsGrant(hear) && !canBeExchanged(calls, hear)) ||
            (tellsEnd(hear) &&
              !calls.endings.some((end) => mayBeDone(end) && canPrecede(end, hear))),
        ),
      ),
  },
  {
    name: 'told-end-is-final',
    says: 'Nothing succeeds with a grant that began after its end was told.',
    broken: ({ hears, recovers, authentications, finds }) =>
      pair(hears.filter(tellsEnd), [...authentications, ...recovers, ...finds], (hear, later) => {
        const alive = later.operation === 'find' ? later.answer?.revoked === false : isDone(later);
        return alive && isBefore(hear, later);
      }),
  },
  {
    name: 'repeats-are-the-same',
    says: 'Every message of one event has the same id and the same body.',
    broken: ({ hears }) =>
      pair(hears, hears, (hear, { answer: other }) => {
        const one = hear.answer;
        // A grant is created once and ends once.
        const isRepeat = tellsGrant(hear)
          ? one?.type === other?.type
          : one?.message === other?.message;
        return isRepeat && (one?.message !== other?.message || one?.body !== other?.body);
      }),
  },
];
