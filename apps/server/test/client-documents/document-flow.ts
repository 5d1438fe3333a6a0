import { type Json, succeed } from '../http/call.ts';
import { postForm } from '../http/forms.ts';
import { operator } from '../http/running-server.ts';
import {
  authorize,
  CHALLENGE,
  type Changes,
  LINKING,
  SIGN_IN_URL,
  VERIFIER,
} from '../linking/link-flow.ts';
import { LONG_HOST, resolver } from '../outbound/world.ts';
import type { PublishedDocument } from './document-server.ts';

/** The settings of a service that takes the documents of the tests. */
export const SETTINGS = {
  ...LINKING,
  CLIENT_DOCUMENTS: 'localhost',
  OUTBOUND_ALLOW: 'private',
};

/** A host of the tests' certificates that no setting names. */
export const STRANGER = 'a.example.net';

/** The settings of a service that takes the documents of strangers. Those of this machine are taken on loopback alone. */
export const OF_STRANGERS = {
  PUBLIC_URL: 'http://127.0.0.1:3000/base',
  SIGN_IN_URL,
  CLIENT_DOCUMENTS: 'any',
  OUTBOUND_ALLOW: 'private',
};

/** Leads the names of strangers to this machine. */
export const toThisMachine = {
  resolve: resolver({ [STRANGER]: [['127.0.0.1']], [LONG_HOST]: [['127.0.0.1']] }).resolve,
};

export const CALLBACK = 'http://127.0.0.1:51004/callback';

type Server = { url: string };

/** The parameters of a good authorization request. */
export const request = ({ address }: PublishedDocument): Record<string, string> => ({
  client_id: address,
  redirect_uri: CALLBACK,
  response_type: 'code',
  scope: 'profile.read',
  state: 'a state',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
});

/** @returns the link */
export async function begin(
  server: Server,
  published: PublishedDocument,
  changes: Changes = {},
): Promise<string> {
  const { status, headers, text } = await authorize(server, { ...request(published), ...changes });
  const link = new URL(headers.get('location') ?? '').searchParams.get('link');
  if (link === null) throw new Error(`No link was begun: ${status} ${text}`);
  return link;
}

export async function approved(server: Server, link: string, account_id: string) {
  const answer = await succeed(server, 'admin.links.approve', { link, account_id }, operator);
  const code = new URL(answer.redirect_to).searchParams.get('code') as string;
  return { answer, code };
}

export const redeem = (server: Server, code: string, client: Record<string, string>) =>
  postForm(server, '/oauth/token', {
    grant_type: 'authorization_code',
    code,
    redirect_uri: CALLBACK,
    code_verifier: VERIFIER,
    ...client,
  });

export const pin = (
  server: { url: string },
  document_uri: string,
  members: object = {},
): Promise<Json> => {
  const redirect_uris = ['http://127.0.0.1/callback'];
  const document = { client_id: document_uri, redirect_uris, ...members };
  return succeed(server, 'admin.documents.pin', { document_uri, document }, operator);
};
