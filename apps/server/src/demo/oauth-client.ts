import type { FullGrant, GrantDescription } from '@latchkey/schema';
import { DomainError } from '../domain-error.ts';
import { DEMO_APPLICATION_ID, demoPaths } from './linking-demo.ts';

export interface OAuthClient {
  convert(code: string, codeVerifier: string): Promise<string | null>;
  readGrant(grantSecret: string): Promise<GrantDescription | null>;
}

const TIMEOUT_MILLISECONDS = 10_000;

export function createOAuthClient(url: string, publicUrl: string): OAuthClient {
  async function request<Body>(path: string, refusal: number, init: RequestInit) {
    const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
    const response = await fetch(url + path, { ...init, redirect: 'error', signal });
    if (response.ok) return (await response.json()) as Body;
    await response.body?.cancel();
    if (response.status === refusal) return null;
    throw new DomainError('store_unavailable');
  }

  return {
    async convert(code, codeVerifier) {
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: publicUrl + demoPaths.callback,
        code_verifier: codeVerifier,
        client_id: DEMO_APPLICATION_ID,
      });
      const init = { method: 'POST', body };
      const answer = await request<{ grant: FullGrant }>('/oauth/token', 400, init);
      return answer?.grant.grant_secret ?? null;
    },
    readGrant: (grantSecret) =>
      request('/v1/grant', 401, { headers: { Authorization: `Bearer ${grantSecret}` } }),
  };
}
