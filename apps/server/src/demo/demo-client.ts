import {
  credentialHint,
  credentialPattern,
  type ErrorBody,
  type FullGrant,
  type GrantDescription,
} from '@latchkey/schema';
import { mintSecret } from '../applications/mint-secret.ts';
import { MAX_LIVE_SECRETS } from '../applications/secrets.ts';
import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import { DEMO_APPLICATION_ID, demoPaths } from './linking-demo.ts';

/** A request over the wire and its answer, as a page shows them: of every credential, the hint alone. */
export interface Exchange {
  /** Such as `POST /oauth/convert`. */
  readonly request: string;
  /** The `Authorization` header; null for none. */
  readonly authorization: string | null;
  /** JSON; null for none. */
  readonly sent: string | null;
  /** The HTTP status; null if the answer was lost. */
  readonly status: number | null;
  /** JSON; null if the answer was lost. */
  readonly received: string | null;
}

/** What came back: null unless it was a success that arrived. */
export interface Answer<Body> {
  readonly exchange: Exchange;
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
  let minted: Promise<string> | null = null;
  /** One for each process, made when it is needed first: nothing keeps it. */
  function ownSecret(): Promise<string> {
    minted ??= addDemoSecret(service).catch((error: unknown) => {
      minted = null;
      throw error;
    });
    return minted;
  }

  async function send<Body>(
    [method, path]: ['GET' | 'POST', string],
    { secret, body, isLost = false }: { secret: string | null; body?: object; isLost?: boolean },
  ): Promise<Answer<Body>> {
    const authorization = secret === null ? null : `Bearer ${secret}`;
    const headers = {
      ...(authorization !== null && { Authorization: authorization }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const response = await fetch(url + path, {
      ...{ method, headers, redirect: 'error' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MILLISECONDS),
    });
    const asked = {
      request: `${method} ${path}`,
      authorization: authorization && hidden(authorization),
      sent: body === undefined ? null : shown(body),
    };
    if (isLost) {
      // It has arrived at this machine, and the application never reads it.
      await response.body?.cancel();
      return { exchange: { ...asked, status: null, received: null }, body: null, error: null };
    }
    if (response.status >= 500) {
      await response.body?.cancel();
      throw new DomainError('store_unavailable');
    }
    const received = (await response.json()) as Body & ErrorBody;
    const exchange = { ...asked, status: response.status, received: shown(received) };
    return response.ok
      ? { exchange, body: received, error: null }
      : { exchange, body: null, error: received };
  }

  return {
    /**
     * @param options.isLost - the answer does not arrive
     * @param options.isStranger - it is sent without the secret, by somebody who has found the code
     */
    convert: async (
      { code, codeVerifier }: CodeOfLink,
      { isLost = false, isStranger = false } = {},
    ): Promise<Answer<FullGrant>> =>
      send(['POST', '/oauth/convert'], {
        secret: isStranger ? null : await ownSecret(),
        body: {
          code,
          redirect_uri: publicUrl + demoPaths.callback,
          ...(!isStranger && { code_verifier: codeVerifier }),
        },
        isLost,
      }),

    recover: async (grant_id: string): Promise<Answer<FullGrant>> =>
      send(['POST', '/oauth/recover'], { secret: await ownSecret(), body: { grant_id } }),

    revoke: async (grant_id: string): Promise<Answer<object>> =>
      send(['POST', '/oauth/revoke'], { secret: await ownSecret(), body: { grant_id } }),

    readGrant: (grantSecret: string): Promise<Answer<GrantDescription>> =>
      send(['GET', '/v1/grant'], { secret: grantSecret }),
  };
}

export type DemoClient = ReturnType<typeof createDemoClient>;

/** The oldest of an earlier process makes room. */
async function addDemoSecret({ store, clock }: Service): Promise<string> {
  const now = clock();
  const { record, credential } = mintSecret(DEMO_APPLICATION_ID, now, null);
  for (;;) {
    const outcome = await store.addSecret(DEMO_APPLICATION_ID, record, {
      most: MAX_LIVE_SECRETS,
      now,
    });
    if (outcome === 'added') return credential;
    if (outcome !== 'secret_limit_reached') throw new DomainError(outcome);
    const [oldest] = (await store.findApplication(DEMO_APPLICATION_ID))?.secrets ?? [];
    if (oldest) await store.removeSecret(DEMO_APPLICATION_ID, oldest.id);
  }
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
