import type { HttpRequest, HttpResponse } from '../connection.ts';
import { type Endpoint, type Grant, unexpectedResponse, type Wire } from '../contender.ts';

/** The fields of Latchkey's objects that are checked. */
interface Checked {
  object?: string;
  grant_id?: string;
  grant_secret?: string;
  revoked?: boolean;
  active?: boolean;
  username?: string;
  account?: { username?: string };
}

/** The username of the account that all grants are about. */
export const USERNAME = 'ada';

/** What only Latchkey is measured with, besides the rest. */
export interface LatchkeyWire extends Required<Wire> {
  /** Replaces the secret of a grant that was not used yet. */
  recover: Endpoint<Grant, Grant>;
  introspect: Endpoint<Grant, void>;
}

/** Latchkey's operations, over REST or tRPC. */
export function latchkeyWire(wire: {
  applicationSecret: string;
  post(
    operation: 'convert' | 'recover' | 'introspect' | 'revoke',
    body: string,
  ): { path: string; body: string };
  accountPath: string;
  /** Returns the object in the body of a response. */
  unwrap(body: string): Checked;
}): LatchkeyWire {
  const { post, unwrap } = wire;
  const authorization = `Bearer ${wire.applicationSecret}`;
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  const succeeded = (what: string, response: HttpResponse): Checked => {
    if (response.status !== 200) throw unexpectedResponse(what, response);
    return unwrap(response.body);
  };
  const call = (operation: Parameters<typeof post>[0], input: object): HttpRequest => ({
    method: 'POST',
    headers,
    ...post(operation, JSON.stringify(input)),
  });
  function fullGrant(what: string, response: HttpResponse): Grant {
    const { object, grant_id, grant_secret, revoked, account } = succeeded(what, response);
    const isRight = object === 'oauth_grant' && revoked === false && account?.username === USERNAME;
    if (!isRight || !grant_id || !grant_secret) throw unexpectedResponse(what, response);
    return { id: grant_id, secret: grant_secret };
  }
  return {
    convert: {
      request: (code) => call('convert', { code }),
      result: (response) => fullGrant('convert', response),
    },
    recover: {
      request: ({ id }) => call('recover', { grant_id: id }),
      result: (response) => fullGrant('recover', response),
    },
    introspect: {
      request: ({ secret }) => call('introspect', { token: secret }),
      result(response, { id }) {
        const { active, grant_id } = succeeded('introspect', response);
        if (!active || grant_id !== id) throw unexpectedResponse('introspect', response);
      },
    },
    authenticate: {
      request: ({ secret }) => ({
        method: 'GET',
        path: wire.accountPath,
        headers: { Authorization: `Bearer ${secret}` },
      }),
      result(response) {
        const { object, username } = succeeded('authenticate', response);
        if (object !== 'service_account' || username !== USERNAME) {
          throw unexpectedResponse('authenticate', response);
        }
      },
    },
    revoke: {
      request: ({ id }) => call('revoke', { grant_id: id }),
      result(response, { id }) {
        const { grant_id, revoked } = succeeded('revoke', response);
        if (grant_id !== id || revoked !== true) throw unexpectedResponse('revoke', response);
      },
    },
  };
}

/** Latchkey's REST interface. */
export const restWire = (applicationSecret: string): LatchkeyWire =>
  latchkeyWire({
    applicationSecret,
    post: (operation, body) => ({ path: `/oauth/${operation}`, body }),
    accountPath: '/v1/account',
    unwrap: (body) => JSON.parse(body),
  });
