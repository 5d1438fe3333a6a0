import { createHmac } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Milliseconds } from '@latchkey/domain/clock';
import {
  type CredentialHash,
  hashCredential,
  type MintedCredential,
  newId,
  sameHash,
} from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { CODE_LIFETIME } from '@latchkey/domain/lifetimes';
import { type Choice, formatCredential, uuidToBytes, uuidV7Time } from '@latchkey/schema';
import { isOver } from '@latchkey/store/generations';
import type { ApplicationRecord, LinkRecord } from '@latchkey/store/records';
import { keepDocument } from '../client-documents/kept-documents.ts';
import type { Dependencies } from '../dependencies.ts';
import { storeCode } from '../grants/issue-code.ts';
import { refuseIfFull } from '../room.ts';
import { scopeWithOptional } from './asked-scope.ts';
import { type LinkAccess, readAgain, refuseExpired, refuseLost, subjectOf } from './link-access.ts';
import { linkingOf } from './linking.ts';
import type { LinkingApplication } from './linking-application.ts';
import {
  type Location,
  locationAfter,
  type ReturnAddress,
  redirectWithCode,
  returnOf,
  returnWithCode,
} from './redirect.ts';

export interface Decided {
  link: LinkRecord;
  application: LinkingApplication;
  redirect_to: Location;
}

export interface Approval {
  account_id: string;
  scope?: string | undefined;
  /** What the user chose; null for nothing. */
  choice: Choice | null;
}

/** Of concurrent decisions, exactly one is made. The same approval has the same result again. */
export async function approve(
  service: Pick<Dependencies, 'store' | 'clock' | 'room' | 'counts' | 'linking'>,
  access: LinkAccess,
  { account_id, scope, choice }: Approval,
  initiator: Initiator,
): Promise<Decided> {
  const { store, clock } = service;
  const { link, decided_by } = access;
  const granted = scope === undefined ? link.scope : partOf(scopeWithOptional(link), scope);
  if (link.decision !== null) {
    return repeatApproval(service, access, { account_id, granted, choice }, initiator);
  }
  refuseExpired(service, link, initiator);
  const isOther = 'link_hash' in access.holder && isOfAnother(link, account_id);
  if (granted === null || isOther) {
    await requireAccount(service, account_id);
    if (granted === null) throw DomainError.because('scope_not_asked_for', subjectOf(link));
    throw accountChanged(link);
  }

  const now = clock();
  const application = await registered(service, access, account_id, now);
  const grant_id = newId(now);
  const code = deriveCode(access.key, link.salt, grant_id);
  // The code comes first. A crash before the decision leaves a code that nobody knows, and it
  // expires. In the other order, it would leave an approval without a code.
  await storeCode(service, {
    grant_id,
    code_hash: code.hash,
    code_expires_at: now + CODE_LIFETIME,
    application_id: application.id,
    account_id,
    scope: granted,
    choice,
    redirect_uri: link.redirect_uri,
    redirect_uri_given: link.redirect_uri_given,
    code_challenge: link.code_challenge,
    resource: link.resource?.resource ?? null,
    link_id: link.id,
    generation: link.generation,
    // Of now, not of the link request: what is allowed after a revocation of all works.
    application_revocations: application.revocations,
    initiator,
  });
  const decided = await store.decideLink({
    link_id: link.id,
    holder: access.holder,
    account_id,
    decision: { status: 'approved', decided_by, grant_id, scope: granted, choice },
    now,
    initiator,
  });
  if (decided !== null) {
    service.counts.add('links:approved', 1, uuidV7Time(link.id) ?? now);
    return {
      link: decided,
      application,
      redirect_to: redirectWithCode(linkingOf(service), link, code.credential),
    };
  }
  await store.cancelCode(grant_id);
  const latest = await readAgain(service, access);
  refuseChanged(service, latest);
  return repeatApproval(service, latest, { account_id, granted, choice }, initiator);
}

const DENIED = { status: 'denied', grant_id: null, scope: null, choice: null } as const;

export async function deny(
  service: Pick<Dependencies, 'store' | 'clock' | 'counts' | 'linking'>,
  access: LinkAccess,
  initiator: Initiator,
): Promise<Decided> {
  if (access.link.decision !== null) return repeatDenial(service, access, initiator);
  refuseExpired(service, access.link, initiator);
  const now = service.clock();
  const decided = await service.store.decideLink({
    link_id: access.link.id,
    holder: access.holder,
    account_id: null,
    decision: { ...DENIED, decided_by: access.decided_by },
    now,
    initiator,
  });
  if (decided !== null) {
    service.counts.add('links:denied', 1, uuidV7Time(decided.id) ?? now);
    return denied(service, { ...access, link: decided }, initiator);
  }
  return repeatDenial(service, await readAgain(service, access), initiator);
}

/**
 * The application of the code. One with a document is kept from its first approval on, so that strangers
 * leave nothing behind. A crash after this leaves an application without grants.
 */
async function registered(
  service: Pick<Dependencies, 'store' | 'room' | 'linking'>,
  { application }: LinkAccess,
  account_id: string,
  now: Milliseconds,
): Promise<ApplicationRecord> {
  const { id, document } = application;
  if (document === null) return { ...application, id: id as string };
  await refuseIfFull(service, account_id);
  await requireAccount(service, account_id);
  const made = newId(now);
  const put = await service.store.putDocumented({
    ...application,
    id: id ?? made,
    created_at: id === null ? now : application.created_at,
    document,
  });
  // At a later one, another process may have ended what this one has.
  if (put.id === made) await keepDocument(service, document.uri);
  return put;
}

async function requireAccount(
  { store }: Pick<Dependencies, 'store'>,
  account_id: string,
): Promise<void> {
  if ((await store.findAccount(account_id)) === null) throw new DomainError('account_not_found');
}

/** Somebody else was identified. Once the user has asked for another account, anybody may be. */
function isOfAnother(
  { account_id: identified, switched }: LinkRecord,
  account_id: string,
): boolean {
  return identified !== null && identified !== account_id && !switched;
}

/**
 * An identification came between the check and the write: nothing else refuses that for a link that can
 * still be decided. Another one may have come since, of the same account.
 */
function refuseChanged({ clock }: Pick<Dependencies, 'clock'>, { link, holder }: LinkAccess): void {
  if (!('link_hash' in holder) || !sameHash(link.link_hash, holder.link_hash)) return;
  if (link.decision === null && clock() < link.expires_at) throw accountChanged(link);
}

function accountChanged(link: LinkRecord): DomainError {
  return new DomainError('account_changed', {}, undefined, {
    reason: null,
    subject: subjectOf(link),
  });
}

/** What the user allows on the page: all that was asked for, and what is checked of the rest. */
export function scopeWithChecked(
  { scope, optional_scope }: Pick<LinkRecord, 'scope' | 'optional_scope'>,
  checked: readonly string[],
): string {
  const optional = optional_scope?.split(' ') ?? [];
  if (!checked.every((token) => optional.includes(token))) {
    throw DomainError.invalid(['optional_scope'], 'Must be one of those that the page offers.');
  }
  return [scope, ...optional.filter((token) => checked.includes(token))].join(' ');
}

/** In the order of `scope`; null if more is wanted. */
function partOf(scope: string, wanted: string): string | null {
  const tokens = new Set(wanted.split(' '));
  const part = scope.split(' ').filter((token) => tokens.has(token));
  return part.length === tokens.size ? part.join(' ') : null;
}

async function repeatApproval(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  access: LinkAccess,
  {
    account_id,
    granted,
    choice,
  }: Pick<Approval, 'account_id' | 'choice'> & { granted: string | null },
  initiator: Initiator,
): Promise<Decided> {
  const { link, application } = access;
  const isSame =
    link.decision?.scope === granted &&
    isDeepStrictEqual(link.decision.choice, choice) &&
    link.account_id === account_id;
  const code = isSame ? await findCode(service, access) : null;
  if (code === null) return refuseLost(service, access, initiator);
  return { link, application, redirect_to: redirectWithCode(linkingOf(service), link, code) };
}

/** The code of an approval that its holder has made, while it can be redeemed. */
async function findCode(
  service: Pick<Dependencies, 'store' | 'clock'>,
  { link, application, key }: LinkAccess,
): Promise<string | null> {
  const grant_id = link.decision?.grant_id ?? null;
  if (grant_id === null || isOver(link, application)) return null;
  // Another holder has another key, which makes another code.
  const { credential, hash } = deriveCode(key, link.salt, grant_id);
  return (await isRedeemable(service, grant_id, hash)) ? credential : null;
}

/** The answer of a decision, on the page of its end; null once it leads nowhere any more. */
export async function findAnswer(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  access: LinkAccess,
  { request_id }: Initiator,
): Promise<ReturnAddress | null> {
  const { link } = access;
  const linking = linkingOf(service);
  if (link.decision?.status === 'denied') {
    const isLate = service.clock() >= link.decision.at + CODE_LIFETIME;
    return isLate ? null : returnOf(linking, link, request_id);
  }
  const code = await findCode(service, access);
  return code === null ? null : returnWithCode(linking, link, code);
}

function repeatDenial(
  service: Pick<Dependencies, 'clock' | 'linking'>,
  access: LinkAccess,
  initiator: Initiator,
): Decided {
  const { link, decided_by } = access;
  const isSame = link.decision?.status === 'denied' && link.decision.decided_by === decided_by;
  return isSame ? denied(service, access, initiator) : refuseLost(service, access, initiator);
}

async function isRedeemable(
  { store, clock }: Pick<Dependencies, 'store' | 'clock'>,
  grant_id: string,
  code_hash: CredentialHash,
): Promise<boolean> {
  const issued_at = uuidV7Time(grant_id) ?? 0;
  if (clock() >= issued_at + CODE_LIFETIME) return false;
  const state = await store.findCode(grant_id);
  return state !== null && !state.redeemed && sameHash(state.code_hash, code_hash);
}

function denied(
  service: Pick<Dependencies, 'linking'>,
  { link, application }: LinkAccess,
  { request_id }: Initiator,
): Decided {
  return { link, application, redirect_to: locationAfter(linkingOf(service), link, request_id) };
}

/**
 * Derived, so that a repeated decision has the same response while the store keeps only hashes. The
 * key or the salt alone cannot make the code.
 */
function deriveCode(key: Uint8Array, salt: Uint8Array, grant_id: string): MintedCredential {
  const random = createHmac('sha256', key).update(salt).update(uuidToBytes(grant_id)).digest();
  const credential = formatCredential('code', grant_id, random);
  return { credential, hash: hashCredential(credential) };
}
