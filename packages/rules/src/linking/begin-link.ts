import { mintCredential, newId, randomBytes } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { LINK_LIFETIME } from '@latchkey/domain/lifetimes';
import { reasons } from '@latchkey/domain/reasons';
import type { LinkRecord } from '@latchkey/store/records';
import type { AskedBy } from '../client-documents/client-documents.ts';
import type { ClientDocument } from '../client-documents/document.ts';
import { DocumentFailure } from '../client-documents/faults.ts';
import { findDocument } from '../client-documents/kept-documents.ts';
import type { Dependencies } from '../dependencies.ts';
import { HostFailing, NoPlace } from '../outbound/scheduler.ts';
import {
  type AuthorizationRequest,
  linkedDocument,
  type ReadTargetOptions,
  readRequest,
  readTarget,
} from './authorization-request.ts';
import { linkingOf } from './linking.ts';
import { applicationSubject } from './linking-application.ts';
import {
  type Location,
  RefusedToApplication,
  refusalInWords,
  returnWithError,
  signInLocation,
} from './redirect.ts';

export interface UnconfirmedRequest extends AuthorizationRequest {
  /** Throws what {@link readAuthorization} throws. */
  confirm(): Promise<unknown>;
}

/** Throws RefusedToApplication, or another error if there is no address to redirect to. */
export async function readAuthorization(
  service: Pick<Dependencies, 'store' | 'clock' | 'room' | 'linking'>,
  query: URLSearchParams,
  request_id: string,
  {
    onApplication,
    beforeFetch,
    ...by
  }: Pick<ReadTargetOptions, 'onApplication'> &
    Pick<AskedBy, 'caller' | 'gone'> & { beforeFetch(): void },
): Promise<UnconfirmedRequest> {
  let document: Promise<ClientDocument> | undefined;
  const readDocument: ReadTargetOptions['readDocument'] = (documents, address, of) => {
    if (document === undefined) {
      beforeFetch();
      document = findDocument(service, documents, address, { ...by, ...of }).catch(refuseDocument);
    }
    return document;
  };
  // A parameter without a value counts as omitted (RFC 6749, section 3.1).
  const given = new URLSearchParams([...query].filter(([, value]) => value !== ''));
  const read = async (mayBeStale: boolean): Promise<AuthorizationRequest> => {
    const options = { mayBeStale, onApplication, readDocument };
    const target = await readTarget(service, given, options);
    try {
      return await readRequest(service, target, given, mayBeStale);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code === 'store_unavailable') throw error;
      const address = returnWithError(linkingOf(service), target, {
        code: error.code,
        request_id,
        ...refusalInWords(error),
      });
      throw new RefusedToApplication(error, address, applicationSubject(target.application));
    }
  };
  const confirm = () => read(false);
  // The refusal may come from an outdated read, so it is repeated behind a fence.
  const request = await read(true).catch(confirm);
  return { ...request, confirm };
}

function refuseDocument(error: unknown): never {
  if (error instanceof NoPlace) throw new DomainError('rate_limited');
  if (error instanceof HostFailing) throw new DomainError('client_document_unavailable');
  if (!(error instanceof DocumentFailure)) throw error;
  const why = { reason: error.fault, subject: {} };
  throw new DomainError(reasons[error.fault].code, {}, error.cause, why);
}

export async function beginLink(
  service: Pick<Dependencies, 'store' | 'clock' | 'room' | 'counts' | 'linking'>,
  { confirm, ...request }: UnconfirmedRequest,
  initiator: Initiator,
): Promise<{ link: LinkRecord; redirect_to: Location }> {
  const { store, clock, counts } = service;
  if (await service.room.isFull()) {
    await confirm();
    throw new DomainError('store_full');
  }
  const now = clock();
  const id = newId(now);
  const { credential, hash } = mintCredential('link', id);
  const { login_hint, ui_locales } = request;
  const link: LinkRecord = {
    id,
    link_hash: hash,
    application_id: request.application.id,
    document: request.document && linkedDocument(request.document),
    redirect_uri: request.redirect_uri,
    redirect_uri_given: request.redirect_uri_given,
    resource: request.resource,
    scope: request.scope,
    optional_scope: request.optional_scope,
    state: request.state,
    code_challenge: request.code_challenge,
    login_hint,
    ui_locales,
    salt: randomBytes(32),
    generation: request.application.generations.now,
    description_hash: request.description_hash,
    expires_at: now + LINK_LIFETIME,
    account_id: null,
    page_id: null,
    switched: false,
    decision: null,
  };
  await store.createLink({ ...link, initiator });
  // Nobody knows the link yet. This read needs no fence, since it has the time of that write.
  await confirm();
  counts.add('links:begun', 1, now);
  const redirect_to = signInLocation(linkingOf(service), {
    link: credential,
    login_hint,
    ui_locales,
  });
  return { link, redirect_to };
}
