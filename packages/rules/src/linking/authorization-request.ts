import { DomainError } from '@latchkey/domain/domain-error';
import type { Reason } from '@latchkey/domain/reasons';
import { fields, isUuid } from '@latchkey/schema';
import type {
  ApplicationRecord,
  KeptDocument,
  LinkedDocument,
  LinkedResource,
  ResourceRecord,
} from '@latchkey/store/records';
import { z } from 'zod';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { ClientDocument } from '../client-documents/document.ts';
import { MAX_SHOWN_HOST } from '../client-documents/redirect-uris.ts';
import type { Dependencies } from '../dependencies.ts';
import { documentOf } from '../registration/registered-clients.ts';
import { sameResource } from '../resources/find-resource.ts';
import { isOwnResource } from '../resources/own-resource.ts';
import { type AskedScope, readScope } from './asked-scope.ts';
import { linkingOf, readPins } from './linking.ts';
import {
  applicationSubject,
  type LinkingApplication,
  withDocument,
} from './linking-application.ts';
import { matchesRedirectUri } from './match-redirect-uri.ts';
import type { RedirectTarget } from './redirect.ts';

export interface AuthorizationTarget extends RedirectTarget {
  application: LinkingApplication;
  /** Of an application that nobody registered. */
  document: ClientDocument | null;
  redirect_uri_given: boolean;
}

export interface AuthorizationRequest extends AuthorizationTarget, AskedScope {
  resource: LinkedResource | null;
  code_challenge: string | null;
  login_hint: string | null;
  ui_locales: string | null;
}

export interface ReadTargetOptions {
  mayBeStale: boolean;
  onApplication: (application: LinkingApplication) => void;
  /** Reads the document at an address that is taken. */
  readDocument: (
    documents: ClientDocuments,
    address: string,
    of: { hasApplication: boolean; kept: KeptDocument | null },
  ) => Promise<ClientDocument>;
}

/**
 * Steps 2 to 4 of `docs/protocol/linking.md#authorization-request`. These errors are not redirected.
 *
 * @param query - the parameters that have a value
 */
export async function readTarget(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  query: URLSearchParams,
  options: ReadTargetOptions,
): Promise<AuthorizationTarget> {
  const client = await findClient(service, query.getAll('client_id'), options);
  const { application } = client;
  options.onApplication(application);
  const refuse = (reason: Reason) => DomainError.because(reason, applicationSubject(application));

  const redirectUris = query.getAll('redirect_uri');
  if (redirectUris.length > 1) throw refuse('redirect_uri_repeated');
  const [given] = redirectUris;
  const registered = application.redirect_uris;
  const [only] = registered;
  if (given === undefined && (only === undefined || registered.length > 1)) {
    throw refuse('redirect_uri_omitted');
  }
  if (given !== undefined && !registered.some((one) => matchesRedirectUri(one, given))) {
    throw refuse('redirect_uri_other');
  }

  const states = query.getAll('state');
  if (states.length > 1) throw refuse('state_repeated');
  const [state = null] = states;
  if (state !== null && !/^[\x20-\x7e]{1,2048}$/.test(state)) throw refuse('state_ill_formed');
  const redirect_uri = (given ?? only) as string;
  const { publicUrl } = linkingOf(service);
  if (longestRedirect(redirect_uri, state, publicUrl) > MAX_REDIRECT_BYTES) {
    throw refuse('redirect_too_long');
  }
  return {
    ...client,
    redirect_uri,
    redirect_uri_given: given !== undefined,
    state,
  };
}

// With the code or the error beside it, a Location has at most 3,500 bytes: what nginx's `proxy_buffer_size` of 4 KiB
// has room for with the other headers.
const MAX_REDIRECT_BYTES = 2_700;

/** What an answer repeats: `iss` and `error_uri` have PUBLIC_URL. */
const longestRedirect = (redirect_uri: string, state: string | null, publicUrl: string): number =>
  Buffer.byteLength(redirect_uri) + formLength(state ?? '') + 2 * formLength(publicUrl);

/** Without the name and the equals sign. */
const formLength = (text: string) => new URLSearchParams([['', text]]).toString().length - 1;

type FoundClient = Pick<AuthorizationTarget, 'application' | 'document'>;

async function findClient(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  ids: readonly string[],
  options: ReadTargetOptions,
): Promise<FoundClient> {
  const [id] = ids;
  if (id === undefined) throw DomainError.because('client_id_missing');
  if (ids.length > 1) throw DomainError.because('client_id_repeated');
  if (!isUuid(id)) return findUnregistered(service, id, options);
  const application_id = id.toLowerCase();
  const { mayBeStale } = options;
  const application = await service.store.findApplication(application_id, { mayBeStale });
  if (application === null) {
    throw DomainError.because('client_not_found', { claimed_application_id: application_id });
  }
  if (application.document !== null) {
    throw DomainError.because('client_id_of_document', { application_id });
  }
  if (application.disabled) throw DomainError.because('client_disabled', { application_id });
  return { application, document: null };
}

/** By an address: that of its document, or the one that has all that it says. */
async function findUnregistered(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  id: string,
  { mayBeStale, readDocument }: ReadTargetOptions,
): Promise<FoundClient> {
  const { store, clock } = service;
  const { clientDocuments, registeredClients } = linkingOf(service);
  const findRecord = async () => {
    const record = await store.findDocumented(id, { mayBeStale });
    if (record?.disabled) {
      throw DomainError.because('client_disabled', { application_id: record.id });
    }
    return record;
  };
  const from = (record: ApplicationRecord | null, document: ClientDocument) => {
    const { redirect_uris } = document;
    const application = withDocument(record, linkedDocument(document), redirect_uris, clock());
    return { application, document };
  };
  if (registeredClients.isOwn(id)) {
    const registered = registeredClients.find(id);
    if (registered === null) throw DomainError.because('client_address_not_taken');
    return from(await findRecord(), documentOf(registered));
  }
  if (clientDocuments === null || !id.startsWith('https://')) {
    throw DomainError.because('client_id_ill_formed');
  }
  if (!clientDocuments.isWritten(id)) throw DomainError.because('client_address_not_taken');
  // Never an outdated one: what the link keeps of it is confirmed by nothing.
  const [kept] = await Promise.all([store.findKeptDocument(id), readPins(service)]);
  if (!clientDocuments.isTaken(id)) throw DomainError.because('client_address_not_taken');
  if (new URL(id).hostname.length > MAX_SHOWN_HOST)
    throw DomainError.because('client_host_too_long');
  const record = await findRecord();
  const of = { hasApplication: record !== null, kept };
  return from(record, await readDocument(clientDocuments, id, of));
}

/** What a link request keeps: neither the redirect URIs, nor the keys, nor the scopes. */
export const linkedDocument = ({
  redirect_uris: _uris,
  keys: _keys,
  scope: _scope,
  ...kept
}: ClientDocument): LinkedDocument => kept;

/** Steps 5 to 9. Errors are redirected to the application. */
export async function readRequest(
  service: Pick<Dependencies, 'store' | 'linking'>,
  target: AuthorizationTarget,
  query: URLSearchParams,
  mayBeStale: boolean,
): Promise<AuthorizationRequest> {
  checkResponseType(query);
  const code_challenge = readChallenge(query);

  const { application, document, state } = target;
  const refuse = (reason: Reason) => DomainError.because(reason, applicationSubject(application));
  if (code_challenge === null) {
    if (application.public) throw refuse('challenge_of_public_application');
    if (application.challenge_required) throw refuse('challenge_of_application');
    if (state === null) throw refuse('challenge_or_state');
  }

  const resource = await readResource(service, refuse, query.getAll('resource'));
  const voucher = linkingOf(service).vouchers.ofClient(application);
  const bounds = { application, document, voucher, resource, mayBeStale };
  const named = { scope: query.get('scope'), optional_scope: query.get('optional_scope') };
  return {
    ...target,
    ...(await readScope(service.store, named, bounds)),
    resource: resource && toLinkedResource(resource),
    code_challenge,
    login_hint: readHint(query, 'login_hint', LOGIN_HINT),
    ui_locales: readHint(query, 'ui_locales', LANGUAGE_TAGS),
  };
}

/** Not an outdated one: a link request must not be for another resource than was asked for. */
async function readResource(
  service: Pick<Dependencies, 'store' | 'linking'>,
  refuse: (reason: Reason) => DomainError,
  [named, ...others]: string[],
): Promise<ResourceRecord | null> {
  if (named === undefined) return null;
  const resources = await service.store.listResources();
  // Without resources, the parameter is unknown like any other.
  if (resources.length === 0) return null;
  if (others.length > 0) throw refuse('resource_repeated');
  if (isOwnResource(named, linkingOf(service).publicUrl)) return null;
  const found = sameResource(resources, named);
  if (found === null) throw refuse('resource_unregistered');
  return found;
}

const toLinkedResource = ({ id, resource, generation }: ResourceRecord): LinkedResource => ({
  ...{ id, resource, generation },
});

const invalid = (name: string, message: string) => DomainError.invalid([name], message);

function refuseRepeated(query: URLSearchParams, name: string): void {
  if (query.getAll(name).length > 1) throw invalid(name, 'Must be given only once.');
}

function checkResponseType(query: URLSearchParams): void {
  refuseRepeated(query, 'response_type');
  const type = query.get('response_type');
  if (type === null) throw invalid('response_type', 'Must be code.');
  if (type !== 'code') throw new DomainError('response_type_unsupported');
}

const NAMED_ONCE = [
  ...['response_mode', 'code_challenge', 'code_challenge_method', 'scope', 'optional_scope'],
];

function readChallenge(query: URLSearchParams): string | null {
  for (const name of NAMED_ONCE) refuseRepeated(query, name);
  const mode = query.get('response_mode');
  if (mode !== null && mode !== 'query') {
    throw invalid('response_mode', 'Must be query, or left out.');
  }
  const challenge = query.get('code_challenge');
  const method = query.get('code_challenge_method');
  if (challenge === null) {
    if (method === null) return null;
    throw invalid('code_challenge', 'Must be given together with code_challenge_method.');
  }
  const { success, error } = fields.codeChallenge.safeParse(challenge);
  if (!success) throw invalid('code_challenge', error.issues[0]?.message as string);
  // If omitted, it would mean `plain` (RFC 7636, section 4.3): the challenge would be the verifier.
  if (method !== 'S256') throw invalid('code_challenge_method', 'Must be S256.');
  return challenge;
}

/** RFC 5646, section 2.1: in four bytes each, they would take a link request over its 6 KiB. */
const LANGUAGE_TAGS = z.string().regex(/^[\x20-\x7e]{1,100}$/);

const LOGIN_HINT = fields.textOf(200);

/** A malformed hint is ignored, because it decides nothing. */
function readHint(query: URLSearchParams, name: string, form: z.ZodType<string>): string | null {
  const [value, ...others] = query.getAll(name);
  if (value === undefined || others.length > 0) return null;
  return form.safeParse(value).success ? value : null;
}
