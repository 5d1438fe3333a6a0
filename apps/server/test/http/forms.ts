import { createHash, randomBytes } from 'node:crypto';
import { type HttpResponse, send } from './call.ts';
import type { LinkedApplication } from './linked-application.ts';

export const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

export type FormFields = Record<string, string> | [string, string][];

/** Posts a form, as OAuth clients do. */
export function postForm(
  server: { url: string },
  path: string,
  fields: FormFields,
  authorization?: string,
): Promise<HttpResponse> {
  const body = new URLSearchParams(fields).toString();
  return send(server, { method: 'POST', path, headers: FORM_TYPE, authorization, body });
}

/** A token request (RFC 6749, section 4.1.3) without credentials. */
export const tokenRequest = (code: string, more: Record<string, string> = {}) => ({
  grant_type: 'authorization_code',
  code,
  ...more,
});

/** The ways in which a client with a secret authenticates, as fields and as a header. */
export const confidentialMethods = {
  client_secret_basic: ({ application_id, secret }: LinkedApplication) => ({
    fields: {},
    authorization: `Basic ${btoa(`${application_id}:${secret}`)}`,
  }),
  client_secret_post: ({ application_id, secret }: LinkedApplication) => ({
    fields: { client_id: application_id, client_secret: secret },
    authorization: undefined,
  }),
  bearer: ({ bearer }: LinkedApplication) => ({ fields: {}, authorization: bearer }),
};

/** The ways in which a public client tells who it is. */
export const publicMethods = {
  'client_id in the form': ({ application_id }: LinkedApplication) => ({
    fields: { client_id: application_id },
    authorization: undefined,
  }),
  'Basic with an empty password': ({ application_id }: LinkedApplication) => ({
    fields: {},
    authorization: `Basic ${btoa(`${application_id}:`)}`,
  }),
};

/** A verifier and its challenge (RFC 7636). */
export function pkce(): { code_verifier: string; code_challenge: string } {
  const code_verifier = randomBytes(32).toString('base64url');
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
  return { code_verifier, code_challenge };
}
