import type { HttpResponse } from '../connection.ts';
import { unexpectedResponse, type Wire } from '../contender.ts';

/** The fields of Latchkey's objects that are checked. */
interface Checked {
  object?: string;
  grant_id?: string;
  grant_secret?: string;
  revoked?: boolean;
  username?: string;
  account?: { username?: string };
}

/** The username of the account that all grants are about. */
export const USERNAME = 'ada';

/** Latchkey's operations, over REST or tRPC. */
export function latchkeyWire(wire: {
  applicationSecret: string;
  post(operation: 'convert' | 'revoke', body: string): { path: string; body: string };
  accountPath: string;
  /** Returns the object in the body of a response. */
  unwrap(body: string): Checked;
}): Required<Wire> {
  const { post, unwrap } = wire;
  const authorization = `Bearer ${wire.applicationSecret}`;
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  const succeeded = (what: string, response: HttpResponse): Checked => {
    if (response.status !== 200) throw unexpectedResponse(what, response);
    return unwrap(response.body);
  };
  return {
    convert: {
      request: (code) => ({
        method: 'POST',
        headers,
        ...post('convert', JSON.stringify({ code })),
      }),
      result(response) {
        const { object, grant_id, grant_secret, revoked, account } = succeeded('convert', response);
        const isRight =
          object === 'oauth_grant' && revoked === false && account?.username === USERNAME;
        if (!isRight || !grant_id || !grant_secret) throw unexpectedResponse('convert', response);
        return { id: grant_id, secret: grant_secret };
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
      request: ({ id }) => ({
        method: 'POST',
        headers,
        ...post('revoke', JSON.stringify({ grant_id: id })),
      }),
      result(response, { id }) {
        const { grant_id, revoked } = succeeded('revoke', response);
        if (grant_id !== id || revoked !== true) throw unexpectedResponse('revoke', response);
      },
    },
  };
}

/** Latchkey's REST interface. */
export const restWire = (applicationSecret: string): Required<Wire> =>
  latchkeyWire({
    applicationSecret,
    post: (operation, body) => ({ path: `/oauth/${operation}`, body }),
    accountPath: '/v1/account',
    unwrap: (body) => JSON.parse(body),
  });
