import { isDeepStrictEqual } from 'node:util';
import type { Milliseconds } from '@latchkey/domain/clock';
import { hashText, textOfHash } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Adapter, Decision, WriteOptions } from '../adapter.ts';
import { asIs, type Condition, type Givens, isSet } from '../condition.ts';
import { deletionWork, type Work, withEnding } from '../endings.ts';
import { generationsAfter } from '../generations.ts';
import {
  type DocumentedApplication,
  documentedChanges,
  type ListRange,
  type ReadOptions,
} from '../inputs.ts';
import { type RecordOf, shownFields } from '../kind.ts';
import { clientDocuments, applications as kind } from '../kinds.ts';
import {
  type ApplicationChanges,
  type ApplicationRecord,
  type DeletionRecord,
  type SecretRecord,
  shownOf,
} from '../records.ts';
import { withSecret, withUse } from '../secrets.ts';
import { firstOf, type Marking, marking } from './marking.ts';
import { type Listed, newestFirst, olderThan } from './sites.ts';

type Stored = RecordOf<typeof kind>;

export const APPLICATION = shownFields(kind);
const AUTHENTICATING = APPLICATION.filter((name) => name !== 'logo_uri');

const existing = { deleted_at: null } as const;

interface OfId {
  application_id: string;
}

interface Disabling {
  disabled: boolean;
  now: Milliseconds;
  nameOf: (application: ApplicationRecord) => string;
}

const asItIs = ({ name }: ApplicationRecord) => name as string;

export function applications(db: Adapter, finish: (work: Work) => Promise<void>) {
  const ofId = ({ application_id }: Givens<OfId>) => ({ id: application_id, ...existing });
  const find = db.find(kind, ofId, APPLICATION, asIs);
  const authenticate = db.find(kind, ofId, AUTHENTICATING, asIs);
  const listOf = (index: string, which: Condition<typeof kind> = {}) =>
    db.list(
      kind,
      ({ before }: Givens<Listed>) => [{ ...existing, ...which }, olderThan(before)],
      APPLICATION,
      asIs,
      { index, order: newestFirst },
    );
  const listAll = listOf('listed_applications');
  const listDocumented = listOf('documented_applications', { document: isSet });
  const listRegistered = listOf('registered_applications', { document: null });
  const create = db.modify(
    kind,
    ({ id }: ApplicationRecord) => id,
    (found, application): Decision<Stored, void> => {
      if (found !== null) throw new TypeError(`The id ${application.id} is taken.`);
      return { result: undefined, put: storedApplication(application) };
    },
  );

  /** A change of an application that is there. */
  const changing = <I extends OfId, R>(
    decide: (application: ApplicationRecord, input: I, found: Stored) => Decision<Stored, R>,
    options?: WriteOptions<I>,
  ) =>
    db.modify(
      kind,
      ({ application_id }: I) => application_id,
      (found, input): Decision<Stored, R | null> =>
        found === null || found.deleted_at !== null
          ? { result: null }
          : decide(applicationOf(found), input, found),
      options,
    );
  const update = changing((before, { changes }: OfId & { changes: ApplicationChanges }) => {
    const after = { ...before, ...changes, generations: generationsAfter(before, changes) };
    return { result: after, put: { ...changes, generations: after.generations } };
  });
  const setDisabled = changing(
    (before, { disabled, now, nameOf }: OfId & Disabling) => {
      const generations = generationsAfter(before, { disabled });
      const enabled_at = before.disabled && !disabled ? now : before.enabled_at;
      const after = { ...before, disabled, enabled_at, generations };
      const type = disabled ? 'application.disabled' : 'application.enabled';
      return {
        ...{ result: after, put: { disabled, enabled_at, generations } },
        ...(before.disabled !== disabled && { event: { type, at: now, name: nameOf(before) } }),
      };
    },
    { ends: true },
  );
  const add = changing(({ secrets: before }, { secret, ...limit }: NewSecret) => {
    const secrets = withSecret(before, secret, limit);
    if (secrets === null) return { result: 'secret_limit_reached' as const };
    return {
      result: 'added' as const,
      put: { secrets },
      isMade: (later) => later.secrets.some(({ id }) => id === secret.id),
    };
  });
  const removeOne = changing(
    (before, { secret_id }: OfSecret): Decision<Stored, ApplicationRecord | 'secret_not_found'> => {
      const secrets = before.secrets.filter(({ id }) => id !== secret_id);
      if (secrets.length === before.secrets.length) return { result: 'secret_not_found' };
      return {
        result: { ...before, secrets },
        put: { secrets },
        isMade: (later) => later.secrets.every(({ id }) => id !== secret_id),
      };
    },
    { ends: true },
  );
  const note = changing(
    (before, { secret_id, at }: Use) => {
      const secrets = withUse(before.secrets, secret_id, at);
      return { result: undefined, ...(secrets && { put: { secrets } }) };
    },
    { isBestEffort: true },
  );

  // A deleted application stays, so that a late command finds its id taken and its revision raised.
  const remove = changing(
    (
      application,
      deletion: DeletionRecord,
      found,
    ): Decision<Stored, Marking<ApplicationRecord | 'application_enabled'>> => {
      if (!application.disabled) return { result: { work: 'application_enabled' } };
      const { application_id, deleted_at, deleted_by } = deletion;
      const { kind, before, at, by } = deletionWork(deletion, application.revocations);
      const marks = withEnding(found, { kind, before, at, by });
      if (marks === null) return { result: { first: firstOf(found, { application_id }) } };
      const document_uri = application.document?.uri ?? null;
      return {
        result: { work: application },
        put: { ...deleted, deleted_at, deleted_by, document_uri, revocations: before, ...marks },
        isMade: (later) => later.deleted_at !== null,
      };
    },
    { ends: true },
  );

  const findAddress = db.find(
    clientDocuments,
    ({ address }: Givens<{ address: string }>) => ({ address }),
    ['application_id'],
    ({ application_id }: OfId) => application_id,
  );
  /** The id of the application with this document, which may not be there yet. */
  const claim = db.modify(
    clientDocuments,
    ({ address }: Claimed) => address,
    (found, { former, ...own }) => {
      const isFree = found === null || found.application_id === former;
      return isFree ? { result: own.application_id, put: own } : { result: found.application_id };
    },
  );
  const put = db.modify(
    kind,
    ({ id }: DocumentedApplication) => id,
    (found, application): Decision<Stored, ApplicationRecord | null> => {
      if (found === null) return { result: application, put: storedApplication(application) };
      if (found.deleted_at !== null) return { result: null };
      const before = applicationOf(found);
      const after = { ...before, ...documentedChanges(before, application) };
      if (isDeepStrictEqual(after, before)) return { result: before };
      return { result: after, put: after };
    },
  );

  const findApplication = (application_id: string, { mayBeStale }: ReadOptions = {}) =>
    find({ application_id, mayBeStale });

  return {
    createApplication: create,
    findApplication,

    /** The application with this document. */
    async findDocumented(
      uri: string,
      options: ReadOptions = {},
    ): Promise<ApplicationRecord | null> {
      const id = await findAddress({ address: addressOf(uri), ...options });
      return id === null ? null : findApplication(id, options);
    },

    /**
     * Creates an application with a document, or, if there is one, gives it the members of the new one
     * that are its document's, with the newest `DOCUMENTED_REDIRECT_URIS` of their redirect URIs.
     * Concurrent calls create one.
     */
    async putDocumented(application: DocumentedApplication): Promise<ApplicationRecord> {
      const address = addressOf(application.document.uri);
      // A deleted application is none, so the document gets another one.
      let former: string | null = null;
      while (former !== application.id) {
        const claimed = { address, application_id: application.id, former };
        const id: string = await claim(claimed);
        const done = await put({ ...application, id });
        if (done !== null) return done;
        former = id;
      }
      // It was deleted just now. The next call makes another one.
      throw new DomainError('store_unavailable');
    },

    /** Reads all that a request of the application may depend on. */
    authenticateApplication: (application_id: string, { mayBeStale }: ReadOptions = {}) =>
      authenticate({ application_id, mayBeStale }),

    /** @param documented - whether they have a document. Default: all */
    listApplications: (
      range: ListRange,
      { documented }: { documented?: boolean | undefined } = {},
    ) => {
      if (documented === undefined) return listAll(range);
      return documented ? listDocumented(range) : listRegistered(range);
    },

    /**
     * Adds a secret unless the application has `most` live ones: those without an expiry or with one
     * after `now`. Concurrent calls together never exceed the limit. Of the expired secrets, keeps
     * the `EXPIRED_SECRETS_KEPT` that expired last, since every request reads all secrets.
     */
    async addSecret(
      application_id: string,
      secret: SecretRecord,
      limit: { most: number; now: Milliseconds },
    ): Promise<'added' | 'application_not_found' | 'secret_limit_reached'> {
      return (await add({ application_id, secret, ...limit })) ?? 'application_not_found';
    },

    /** Removes a secret for good. Returns the application without it. */
    async removeSecret(
      application_id: string,
      secret_id: string,
    ): Promise<ApplicationRecord | 'application_not_found' | 'secret_not_found'> {
      return (await removeOne({ application_id, secret_id })) ?? 'application_not_found';
    },

    /**
     * Returns the changed application; null if there is none. Idempotent. Changes its generations as
     * `generationsAfter` says; so does the next.
     */
    updateApplication: (application_id: string, changes: ApplicationChanges) =>
      update({ application_id, changes }),

    /**
     * Returns the changed application; null if there is none. Idempotent: it is enabled at `now` only
     * if it was disabled. Each disabling ends what was issued before it.
     *
     * @param nameOf - the name that its event has. Default: its own
     */
    setApplicationDisabled: (
      application_id: string,
      disabled: boolean,
      now: Milliseconds,
      nameOf: (application: ApplicationRecord) => string = asItIs,
    ) => setDisabled({ application_id, disabled, now, nameOf }),

    /**
     * Deletes a disabled application with its secrets, and returns it as it was. It is a mark: once this has
     * returned, the application is unknown to every process, and its grants are revoked. The rest is
     * `deletionWork`.
     */
    deleteApplication: (deletion: DeletionRecord) =>
      marking<ApplicationRecord | 'application_not_found' | 'application_enabled'>(
        async () => (await remove(deletion)) ?? { work: 'application_not_found' },
        finish,
      ),

    /**
     * Records when a secret was used. Never moves the time back. Ignores a removed secret. A crash
     * may lose the time: the next use makes up for it.
     */
    async noteSecretUse(
      application_id: string,
      secret_id: string,
      at: Milliseconds,
    ): Promise<void> {
      await note({ application_id, secret_id, at });
    },
  };
}

interface NewSecret extends OfId {
  secret: SecretRecord;
  most: number;
  now: Milliseconds;
}

interface OfSecret extends OfId {
  secret_id: string;
}

interface Use extends OfSecret {
  at: Milliseconds;
}

interface Claimed extends OfId {
  address: string;
  /** A deleted application that had it. */
  former: string | null;
}

export const addressOf = (uri: string) => textOfHash(hashText(uri));

export const applicationOf = shownOf(kind);

const NOT_DELETED = {
  ...{ deleted_at: null, deleted_by: null, document_uri: null },
  ...{ endings: null, unfinished_since: null },
} as const;

export const storedApplication = (application: ApplicationRecord): Stored => ({
  ...application,
  ...NOT_DELETED,
});

/** What is left of a deleted application. */
const deleted = {
  ...{ name: '', secrets: [], redirect_uris: [], scopes: null, default_scopes: null },
  ...{ document: null, homepage_uri: null, policy_uri: null, tos_uri: null, logo_uri: null },
} satisfies Partial<Stored>;
