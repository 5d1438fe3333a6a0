import { uuidV7Time } from '@latchkey/schema';
import { hashCredential, newId, sameHash } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import { CODE_LIFETIME } from '../grants/code-lifetime.ts';
import type { Initiator } from '../initiator.ts';
import { linkingOf, type Service } from '../service.ts';
import type { LinkRecord } from '../store/records.ts';
import { deriveCode } from './derive-code.ts';
import { type LinkAccess, refuseExpired, refuseLost, subjectOf } from './link-access.ts';
import { redirectWithCode, redirectWithError } from './redirect.ts';

export interface Decided {
  link: LinkRecord;
  redirect_to: string;
}

export interface Approval {
  account_id: string;
  scope?: string | undefined;
}

/** Of concurrent decisions, exactly one is made. The same approval has the same result again. */
export async function approve(
  service: Service,
  access: LinkAccess,
  { account_id, scope }: Approval,
  initiator: Initiator,
): Promise<Decided> {
  const { store, clock } = service;
  const { link, application } = access;
  const granted = partOf(link.scope, scope ?? link.scope);
  if (link.decision !== null) {
    return repeatApproval(service, access, { account_id, granted }, initiator);
  }
  refuseExpired(service, link, initiator);
  if (granted === null) throw DomainError.because('scope_not_asked_for', subjectOf(link));

  const now = clock();
  const grant_id = newId(now);
  const code = deriveCode(access.key, link.salt, grant_id);
  // The code comes first. A crash before the decision leaves a code that nobody knows, and it
  // expires. In the other order, it would leave an approval without a code.
  const pending = await store.issueCode({
    grant_id,
    application_id: application.id,
    account_id,
    scope: granted,
    code_hash: hashCredential(code),
    code_expires_at: now + CODE_LIFETIME,
    redirect_uri: link.redirect_uri,
    redirect_uri_given: link.redirect_uri_given,
    code_challenge: link.code_challenge,
    link_id: link.id,
    initiator,
  });
  if (pending === null) throw new DomainError('account_not_found');
  const decided = await store.decideLink({
    link_id: link.id,
    holder: access.holder,
    account_id,
    decision: { status: 'approved', decided_by: access.decided_by, grant_id, scope: granted },
    now,
    initiator,
  });
  if (decided !== null) {
    return { link: decided, redirect_to: redirectWithCode(linkingOf(service), link, code) };
  }
  await store.cancelCode(grant_id);
  const latest = await readAgain(service, access);
  return repeatApproval(service, latest, { account_id, granted }, initiator);
}

export async function deny(
  service: Service,
  access: LinkAccess,
  initiator: Initiator,
): Promise<Decided> {
  if (access.link.decision !== null) return repeatDenial(service, access, initiator);
  refuseExpired(service, access.link, initiator);
  const decided = await service.store.decideLink({
    link_id: access.link.id,
    holder: access.holder,
    account_id: null,
    decision: { status: 'denied', decided_by: access.decided_by, grant_id: null, scope: null },
    now: service.clock(),
    initiator,
  });
  if (decided !== null) return denied(service, decided, initiator);
  return repeatDenial(service, await readAgain(service, access), initiator);
}

function partOf(scope: string, wanted: string): string | null {
  const tokens = new Set(wanted.split(' '));
  const part = scope.split(' ').filter((token) => tokens.has(token));
  return part.length === tokens.size ? part.join(' ') : null;
}

async function readAgain({ store }: Service, access: LinkAccess): Promise<LinkAccess> {
  const link = await store.findLink(access.link.id);
  if (link !== null) return { ...access, link };
  throw DomainError.because(access.lost.unknown, { link_id: access.link.id });
}

async function repeatApproval(
  service: Service,
  access: LinkAccess,
  { account_id, granted }: { account_id: string; granted: string | null },
  initiator: Initiator,
): Promise<Decided> {
  const { link, key } = access;
  const { decision } = link;
  const isSame = decision?.scope === granted && link.account_id === account_id;
  if (isSame && decision.grant_id !== null) {
    // Another holder has another key, which makes another code.
    const code = deriveCode(key, link.salt, decision.grant_id);
    if (await isRedeemable(service, decision.grant_id, code)) {
      return { link, redirect_to: redirectWithCode(linkingOf(service), link, code) };
    }
  }
  return refuseLost(service, access, initiator);
}

async function repeatDenial(
  service: Service,
  access: LinkAccess,
  initiator: Initiator,
): Promise<Decided> {
  const { link, decided_by } = access;
  const isSame = link.decision?.status === 'denied' && link.decision.decided_by === decided_by;
  return isSame ? denied(service, link, initiator) : refuseLost(service, access, initiator);
}

async function isRedeemable(
  { store, clock }: Service,
  grant_id: string,
  code: string,
): Promise<boolean> {
  const issued_at = uuidV7Time(grant_id) ?? 0;
  if (clock() >= issued_at + CODE_LIFETIME) return false;
  const state = await store.findCode(grant_id);
  return state !== null && !state.redeemed && sameHash(state.code_hash, hashCredential(code));
}

function denied(service: Service, link: LinkRecord, { request_id }: Initiator): Decided {
  const error = { code: 'access_denied', request_id } as const;
  return { link, redirect_to: redirectWithError(linkingOf(service), link, error) };
}
