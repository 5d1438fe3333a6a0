import type { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { Milliseconds } from '@latchkey/domain/clock';
import { hashText } from '@latchkey/domain/credentials/credentials';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import { generationsAfter } from '@latchkey/store/generations';
import type {
  ApplicationAuthentication,
  ApplicationChanges,
  ApplicationRecord,
  DeletionRecord,
  SecretRecord,
} from '@latchkey/store/records';
import {
  type DocumentedApplication,
  documentedChanges,
  type ListRange,
  outdatedSecrets,
} from '@latchkey/store/store';
import {
  type ApplicationRow,
  type AuthenticatingRow,
  applicationAuthentication,
  applicationRecord,
  generationsText,
  initiatorRecord,
  initiatorText,
  rangeParameters,
  withSecrets,
} from './rows.ts';

type DeletionRow = { id: Uint8Array; deleted_at: number; deleted_by: string };

// The logo is the last column of its table: without it, none of its pages is read.
const AUTHENTICATING = `
  a.id, a.name, a.disabled, a.created_at, a.redirect_uris, a.scopes, a.default_scopes, a.public, a.resource_server,
  a.challenge_required, a.homepage_uri, a.policy_uri, a.tos_uri, a.idle_days, a.grants_per_account, a.enabled_at, a.generations, a.document,
  s.id AS secret_id, s.hash, s.hint, s.created_at AS secret_created_at, s.expires_at, s.last_used_at`;
const JOINED = `${AUTHENTICATING}, a.logo_uri`;

export function prepareApplications(database: DatabaseSync) {
  // One statement, so that an application and its secrets are of the same moment.
  const findBy = (columns: string, key: 'id' | 'document_hash') =>
    database.prepare(`
      SELECT ${columns} FROM applications a
        LEFT JOIN application_secrets s ON s.application_id = a.id
      WHERE a.${key} = :key ORDER BY s.place`);
  const find = findBy(JOINED, 'id');
  const findByDocument = findBy(JOINED, 'document_hash');
  const authenticate = findBy(AUTHENTICATING, 'id');
  const list = database.prepare(`
    WITH listed AS (
      SELECT * FROM applications
      WHERE id < :before AND coalesce(:documented = (document IS NOT NULL), TRUE)
      ORDER BY id DESC LIMIT :limit)
    SELECT ${JOINED} FROM listed a LEFT JOIN application_secrets s ON s.application_id = a.id
    ORDER BY a.id DESC, s.place`);
  const insert = database.prepare(`
    INSERT INTO applications (id, name, disabled, created_at, redirect_uris, scopes, default_scopes, public,
      resource_server, challenge_required, homepage_uri, policy_uri, tos_uri, logo_uri, idle_days, grants_per_account, enabled_at,
      generations, document_hash, document)
    VALUES (:id, :name, :disabled, :created_at, :redirect_uris, :scopes, :default_scopes, :public,
      :resource_server, :challenge_required, :homepage_uri, :policy_uri, :tos_uri, :logo_uri, :idle_days, :grants_per_account, :enabled_at,
    :generations, :document_hash, :document)`);
  const update = database.prepare(`
    UPDATE applications SET name = :name, redirect_uris = :redirect_uris, scopes = :scopes,
      default_scopes = :default_scopes,
      resource_server = :resource_server, challenge_required = :challenge_required,
      homepage_uri = :homepage_uri, policy_uri = :policy_uri, tos_uri = :tos_uri, logo_uri = :logo_uri,
      idle_days = :idle_days, grants_per_account = :grants_per_account,
      generations = :generations, document = :document
    WHERE id = :id`);
  const insertSecret = database.prepare(`
    INSERT INTO application_secrets
      (application_id, place, id, hash, hint, created_at, expires_at, last_used_at)
    VALUES (
      :application_id,
      (SELECT coalesce(max(place), 0) + 1 FROM application_secrets
        WHERE application_id = :application_id),
      :id, :hash, :hint, :created_at, :expires_at, :last_used_at)`);
  const countLive = database.prepare(`
    SELECT count(*) AS live FROM application_secrets
    WHERE application_id = :application_id AND (expires_at IS NULL OR expires_at > :now)`);
  const deleteSecret = database.prepare(`
    DELETE FROM application_secrets WHERE application_id = :application_id AND id = :id`);
  const setDisabled = database.prepare(`
    UPDATE applications SET disabled = :disabled, generations = :generations,
      enabled_at = CASE WHEN disabled AND NOT :disabled THEN :now ELSE enabled_at END
    WHERE id = :id`);
  const noteUse = database.prepare(`
    UPDATE application_secrets SET last_used_at = :at
    WHERE application_id = :application_id AND id = :id
      AND (last_used_at IS NULL OR last_used_at < :at)`);
  const deleteSecrets = database.prepare(
    'DELETE FROM application_secrets WHERE application_id = :id',
  );
  const remove = database.prepare('DELETE FROM applications WHERE id = :id');
  const remember = database.prepare(
    `INSERT INTO deleted_applications (id, deleted_at, deleted_by, document_uri) VALUES (?, ?, ?, ?)`,
  );
  // They are still told of the grants that this ends.
  const hideEndpoints = database.prepare(
    'UPDATE endpoints SET hidden = 1 WHERE application_id = :id',
  );
  const listDeletions = database.prepare('SELECT * FROM deleted_applications');
  const forget = database.prepare('DELETE FROM deleted_applications WHERE id = :id');
  const deleteCodes = database.prepare(`
    DELETE FROM grants
    WHERE application_id = :id AND code_expires_at IS NOT NULL AND created_at IS NULL`);
  const listGrants = database.prepare(`
    SELECT id FROM grants WHERE application_id = :id AND account_id IS NOT NULL AND id < :before
    ORDER BY id DESC LIMIT :limit`);
  const revoke = database.prepare(`
    UPDATE grants SET revoked_at = ?, revoked_by = ?, revoked_reason = 'application_deleted',
      secret_hash = NULL
    WHERE id = ? AND revoked_at IS NULL AND created_at IS NOT NULL`);

  function findApplication(application_id: string): ApplicationRecord | null {
    const rows = find.all({ key: uuidToBytes(application_id) }) as ApplicationRow[];
    return withSecrets(rows, applicationRecord)[0] ?? null;
  }

  function findDocumented(uri: string): ApplicationRecord | null {
    const rows = findByDocument.all({ key: hashText(uri) }) as ApplicationRow[];
    return withSecrets(rows, applicationRecord)[0] ?? null;
  }

  function createApplication(application: ApplicationRecord): void {
    const { document } = application;
    insert.run({
      ...changeableColumns(application),
      disabled: Number(application.disabled),
      created_at: application.created_at,
      public: Number(application.public),
      enabled_at: application.enabled_at,
      document_hash: document && hashText(document.uri),
    });
    for (const secret of application.secrets) add(application.id, secret);
  }

  function add(application_id: string, secret: SecretRecord): void {
    const { hash, hint, created_at, expires_at, last_used_at } = secret;
    insertSecret.run({
      application_id: uuidToBytes(application_id),
      id: uuidToBytes(secret.id),
      ...{ hash, hint, created_at, expires_at, last_used_at },
    });
  }

  return {
    findApplication,
    findDocumented,

    authenticateApplication(application_id: string): ApplicationAuthentication | null {
      const rows = authenticate.all({ key: uuidToBytes(application_id) }) as AuthenticatingRow[];
      return withSecrets(rows, applicationAuthentication)[0] ?? null;
    },

    listApplications(
      range: ListRange,
      { documented }: { documented?: boolean | undefined } = {},
    ): ApplicationRecord[] {
      const wanted = documented === undefined ? null : Number(documented);
      const rows = list.all({ ...rangeParameters(range), documented: wanted }) as ApplicationRow[];
      return withSecrets(rows, applicationRecord);
    },

    createApplication,

    putDocumented(application: DocumentedApplication): ApplicationRecord {
      const found = findDocumented(application.document.uri);
      if (found === null) {
        createApplication(application);
        return findApplication(application.id) as ApplicationRecord;
      }
      const changes = documentedChanges(found, application);
      if (isDeepStrictEqual({ ...found, ...changes }, found)) return found;
      update.run(changeableColumns({ ...found, ...changes }));
      return { ...found, ...changes };
    },

    updateApplication(
      application_id: string,
      changes: ApplicationChanges,
    ): ApplicationRecord | null {
      const application = findApplication(application_id);
      if (!application) return null;
      const generations = generationsAfter(application, changes);
      const changed = { ...application, ...changes, generations };
      update.run(changeableColumns(changed));
      return changed;
    },

    // The transaction holds the write lock, so no other call adds between the count and the insert.
    addSecret(
      application_id: string,
      secret: SecretRecord,
      limit: { most: number; now: Milliseconds },
    ) {
      const application = findApplication(application_id);
      if (!application) return 'application_not_found';
      const id = uuidToBytes(application_id);
      const { live } = countLive.get({ application_id: id, now: limit.now }) as { live: number };
      if (live >= limit.most) return 'secret_limit_reached';
      for (const outdated of outdatedSecrets(application.secrets, limit.now)) {
        deleteSecret.run({ application_id: id, id: uuidToBytes(outdated) });
      }
      add(application_id, secret);
      return 'added';
    },

    removeSecret(application_id: string, secret_id: string) {
      const { changes } = deleteSecret.run({
        application_id: uuidToBytes(application_id),
        id: uuidToBytes(secret_id),
      });
      const application = findApplication(application_id);
      if (!application) return 'application_not_found';
      return changes === 0 ? 'secret_not_found' : application;
    },

    setApplicationDisabled(
      application_id: string,
      disabled: boolean,
      now: Milliseconds,
    ): ApplicationRecord | null {
      const application = findApplication(application_id);
      if (!application) return null;
      setDisabled.run({
        id: uuidToBytes(application_id),
        disabled: Number(disabled),
        generations: generationsText(generationsAfter(application, { disabled })),
        now,
      });
      return findApplication(application_id);
    },

    deleteApplication({ application_id, deleted_at, deleted_by }: DeletionRecord) {
      const application = findApplication(application_id);
      if (!application) return 'application_not_found';
      if (!application.disabled) return 'application_enabled';
      const id = uuidToBytes(application_id);
      remember.run(id, deleted_at, initiatorText(deleted_by), application.document?.uri ?? null);
      hideEndpoints.run({ id });
      deleteSecrets.run({ id });
      remove.run({ id });
      return application;
    },

    listDeletions(): DeletionRecord[] {
      return (listDeletions.all() as DeletionRow[]).map(({ id, deleted_at, deleted_by }) => ({
        application_id: uuidFromBytes(id),
        deleted_at,
        deleted_by: initiatorRecord(deleted_by),
      }));
    },

    endGrants({ application_id, deleted_at, deleted_by }: DeletionRecord, range: ListRange) {
      const id = uuidToBytes(application_id);
      if (range.before === null) deleteCodes.run({ id });
      const rows = listGrants.all({ id, ...rangeParameters(range) }) as { id: Uint8Array }[];
      const initiator = initiatorText(deleted_by);
      let revoked = 0;
      for (const row of rows) revoked += Number(revoke.run(deleted_at, initiator, row.id).changes);
      const last = rows.at(-1);
      const before = last && rows.length === range.limit ? uuidFromBytes(last.id) : null;
      return { revoked, before };
    },

    forgetDeletion(application_id: string): void {
      forget.run({ id: uuidToBytes(application_id) });
    },

    noteSecretUse(application_id: string, secret_id: string, at: Milliseconds): void {
      noteUse.run({
        application_id: uuidToBytes(application_id),
        id: uuidToBytes(secret_id),
        at,
      });
    },
  };
}

function changeableColumns(application: ApplicationRecord) {
  const { id, name, redirect_uris, scopes, default_scopes, logo_uri } = application;
  const { homepage_uri, policy_uri, tos_uri } = application;
  const { resource_server, challenge_required, idle_days, grants_per_account } = application;
  return {
    id: uuidToBytes(id),
    ...{ name, logo_uri, homepage_uri, policy_uri, tos_uri, idle_days, grants_per_account },
    redirect_uris: JSON.stringify(redirect_uris),
    scopes: scopes && JSON.stringify(scopes),
    default_scopes: default_scopes && JSON.stringify(default_scopes),
    resource_server: Number(resource_server),
    challenge_required: Number(challenge_required),
    generations: generationsText(application.generations),
    document: application.document && JSON.stringify(application.document),
  };
}
