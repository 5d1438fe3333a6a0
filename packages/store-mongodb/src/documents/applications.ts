import { firstGenerations } from '@latchkey/store/generations';
import type {
  ApplicationAuthentication,
  ApplicationRecord,
  DocumentedClient,
  Generations,
  SecretRecord,
} from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import type { ApplicationMarkDocument } from './marks.ts';
import {
  fromHash,
  fromId,
  fromInitiator,
  type InitiatorDocument,
  toDate,
  toHash,
  toId,
} from './values.ts';

export interface SecretDocument {
  id: Binary;
  hash: Binary;
  hint: string;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
}

/** The revision counts changes and the deletion, but no use of a secret. */
export interface ApplicationDocument extends Versioned {
  _id: Binary;
  name: string;
  disabled: boolean;
  created_at: Date;
  secrets: SecretDocument[];
  redirect_uris: string[];
  scopes: string[] | null;
  default_scopes: string[] | null;
  /** Absent if an operator registered it. */
  document?: DocumentedClient;
  logo_uri: string | null;
  homepage_uri: string | null;
  policy_uri: string | null;
  tos_uri: string | null;
  public: boolean;
  resource_server: boolean;
  challenge_required: boolean;
  idle_days: number | null;
  grants_per_account: number | null;
  enabled_at?: Date;
  /** Absent before anything has ended. */
  generations?: Generations;
  /** A deleted application stays, so a late command finds its id taken and its revision raised. */
  deleted_at?: Date;
  deleted_by?: InitiatorDocument;
  deletion_pending?: true;
  /** Of a deleted application, until its grants are told. */
  document_uri?: string;
  /** Absent for none. */
  marks?: ApplicationMarkDocument[];
}

/**
 * Of which application a document is. The hash of its address is longer than an id, so it sorts behind
 * every application. Its writes make sure that there is one, since no index is unique.
 */
export interface AddressDocument extends Versioned {
  _id: Binary;
  application_id: Binary;
}

export type AuthenticatingDocument = Omit<ApplicationDocument, 'logo_uri'>;

export function toSecretDocument(secret: SecretRecord): SecretDocument {
  return {
    id: toId(secret.id),
    hash: toHash(secret.hash),
    hint: secret.hint,
    created_at: toDate(secret.created_at),
    expires_at: secret.expires_at === null ? null : toDate(secret.expires_at),
    last_used_at: secret.last_used_at === null ? null : toDate(secret.last_used_at),
  };
}

export function fromSecretDocument(document: SecretDocument): SecretRecord {
  return {
    id: fromId(document.id),
    hash: fromHash(document.hash),
    hint: document.hint,
    created_at: document.created_at.getTime(),
    expires_at: document.expires_at?.getTime() ?? null,
    last_used_at: document.last_used_at?.getTime() ?? null,
  };
}

export function toApplicationDocument(application: ApplicationRecord): ApplicationDocument {
  return {
    _id: toId(application.id),
    name: application.name,
    disabled: application.disabled,
    created_at: toDate(application.created_at),
    secrets: application.secrets.map(toSecretDocument),
    redirect_uris: application.redirect_uris,
    scopes: application.scopes,
    default_scopes: application.default_scopes,
    ...(application.document !== null && { document: application.document }),
    logo_uri: application.logo_uri,
    homepage_uri: application.homepage_uri,
    policy_uri: application.policy_uri,
    tos_uri: application.tos_uri,
    public: application.public,
    resource_server: application.resource_server,
    challenge_required: application.challenge_required,
    idle_days: application.idle_days,
    grants_per_account: application.grants_per_account,
    ...(application.enabled_at !== null && { enabled_at: toDate(application.enabled_at) }),
    ...(application.generations.now > 0 && { generations: application.generations }),
  };
}

export function fromApplicationDocument(document: ApplicationDocument): ApplicationRecord {
  return { ...toApplicationAuthentication(document), logo_uri: document.logo_uri };
}

export function toApplicationAuthentication(
  document: AuthenticatingDocument,
): ApplicationAuthentication {
  return {
    id: fromId(document._id),
    name: document.name,
    disabled: document.disabled,
    created_at: document.created_at.getTime(),
    secrets: document.secrets.map(fromSecretDocument),
    redirect_uris: document.redirect_uris,
    scopes: document.scopes,
    default_scopes: document.default_scopes,
    document: document.document ?? null,
    homepage_uri: document.homepage_uri,
    policy_uri: document.policy_uri,
    tos_uri: document.tos_uri,
    public: document.public,
    resource_server: document.resource_server,
    challenge_required: document.challenge_required,
    idle_days: document.idle_days,
    grants_per_account: document.grants_per_account,
    enabled_at: document.enabled_at?.getTime() ?? null,
    generations: document.generations ?? firstGenerations,
  };
}

export function toDeletionRecord({ _id, deleted_at, deleted_by }: ApplicationDocument) {
  if (!deleted_at || !deleted_by) throw new TypeError('The application is not deleted.');
  return {
    application_id: fromId(_id),
    deleted_at: deleted_at.getTime(),
    deleted_by: fromInitiator(deleted_by),
  };
}
