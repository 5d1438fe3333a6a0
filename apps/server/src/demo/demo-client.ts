import { DomainError } from '@latchkey/domain/domain-error';
import { mintSecret } from '@latchkey/rules/applications/mint-secret';
import { MAX_LIVE_SECRETS } from '@latchkey/rules/applications/secrets';
import type { Service } from '@latchkey/rules/service';
import {
  credentialHint,
  credentialPattern,
  type ErrorBody,
  type FullGrant,
  type GrantDescription,
} from '@latchkey/schema';
import { DEMO_APPLICATION_ID, DEMO_SECRET_ID, demoPaths } from './linking-demo.ts';

/** A call as a page shows it: of every credential, the hint alone. */
export interface ShownCall {
  /** Such as `POST /oauth/convert`. */
  readonly request: string;
  /** The `Authorization` header; null for none. */
  readonly authorization: string | null;
  /** JSON; null for none. */
  readonly sent: string | null;
  /** The HTTP status; null if the response is lost. */
  readonly status: number | null;
  /** JSON; null if the response is lost. */
  readonly received: string | null;
  /** Of a refusal. */
  readonly error_code: string | null;
}

export interface ClientResponse<Body> {
  readonly call: ShownCall;
  /** Of a success. */
  readonly body: Body | null;
  /** Of a refusal. */
  readonly error: ErrorBody | null;
}

export interface CodeOfLink {
  readonly code: string;
  readonly codeVerifier: string;
}

const TIMEOUT_MILLISECONDS = 10_000;

/** The backend of the demo application. It calls the service over the network, as any other does. */
export function createDemoClient(service: Service, url: string, publicUrl: string) {
  const redirect_uri = publicUrl + demoPaths.callback;
  /** Made at the first use, and kept only in memory. */
  let ownSecret: Promise<string> | null = null;

  async function send<Body>(
    [method, path]: ['GET' | 'POST', string],
    { secret, body }: { secret: string | null; body?: object },
  ): Promise<ClientResponse<Body>> {
    const authorization = secret === null ? null : `Bearer ${secret}`;
    const headers = {
      ...(authorization !== null && { Authorization: authorization }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const { status, received } = await read<Body & ErrorBody>(url + path, {
      ...{ method, headers, redirect: 'error' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const isRefusal = status >= 400;
    const call = {
      request: `${method} ${path}`,
      authorization: authorization && hidden(authorization),
      sent: body === undefined ? null : shown(body),
      status,
      received: shown(received),
      error_code: isRefusal ? received.error_code : null,
    };
    return isRefusal
      ? { call, body: null, error: received }
      : { call, body: received, error: null };
  }

  /** A secret that was removed elsewhere is forgotten: the next call makes a new one. */
  async function sendAsApplication<Body>(
    path: string,
    body: object,
  ): Promise<ClientResponse<Body>> {
    ownSecret ??= addDemoSecret(service);
    const current = ownSecret;
    const forget = () => {
      if (ownSecret === current) ownSecret = null;
    };
    const secret = await current.catch((error: unknown) => {
      forget();
      throw error;
    });
    const response = await send<Body>(['POST', path], { secret, body });
    if (response.call.error_code === 'credentials_invalid') forget();
    return response;
  }

  return {
    convert: ({ code, codeVerifier }: CodeOfLink) =>
      sendAsApplication<FullGrant>('/oauth/convert', {
        ...{ code, redirect_uri, code_verifier: codeVerifier },
      }),

    /** By somebody who has found the code. */
    convertAsStranger: ({ code }: CodeOfLink) =>
      send<FullGrant>(['POST', '/oauth/convert'], { secret: null, body: { code, redirect_uri } }),

    recover: (grant_id: string) => sendAsApplication<FullGrant>('/oauth/recover', { grant_id }),
    revoke: (grant_id: string) => sendAsApplication<object>('/oauth/revoke', { grant_id }),

    readGrant: (grantSecret: string) =>
      send<GrantDescription>(['GET', '/v1/grant'], { secret: grantSecret }),
  };
}

export type DemoClient = ReturnType<typeof createDemoClient>;

/** @throws DomainError if the service does not respond in time, or not with a result or a refusal */
async function read<Body>(
  url: string,
  options: RequestInit,
): Promise<{ status: number; received: Body }> {
  try {
    const response = await fetch(url, options);
    const received = (await response.json()) as Body;
    if (response.status < 500) return { status: response.status, received };
  } catch (error) {
    throw new DomainError('store_unavailable', {}, error);
  }
  throw new DomainError('store_unavailable');
}

/** Takes the place of the secret of an earlier process. */
async function addDemoSecret({ store, clock }: Service): Promise<string> {
  const now = clock();
  const { record, credential } = mintSecret(DEMO_APPLICATION_ID, now, null);
  await store.removeSecret(DEMO_APPLICATION_ID, DEMO_SECRET_ID);
  const secret = { ...record, id: DEMO_SECRET_ID };
  const limit = { most: MAX_LIVE_SECRETS, now };
  const outcome = await store.addSecret(DEMO_APPLICATION_ID, secret, limit);
  if (outcome !== 'added') throw new DomainError(outcome);
  return credential;
}

const hidden = (text: string): string =>
  text.replaceAll(credentialPattern, (credential) => credentialHint(credential));

/** A verifier is a secret until its code is spent. */
function shown(body: object): string {
  const text = JSON.stringify(body, null, 2);
  return hidden(text).replace(
    /("code_verifier": ")[\w-]+([\w-]{4}")/,
    (_, name: string, end: string) => `${name}…${end}`,
  );
}
