import type { HttpAnswer } from '../connection.ts';
import { type Wire, wrongAnswer } from '../contender.ts';

/** The objects of Latchkey's wire, as far as they are looked at. */
interface Answered {
  object?: string;
  grant_id?: string;
  grant_secret?: string;
  revoked?: boolean;
  username?: string;
  account?: { username?: string };
}

/** The username of the account that all grants are about. */
export const USERNAME = 'ada';

/** Latchkey's operations, with what is particular to a wire left open. */
export function latchkeyCalls(wire: {
  applicationSecret: string;
  post(operation: 'convert' | 'revoke', body: string): { path: string; body: string };
  accountPath: string;
  /** The object in the body of an answer. */
  unwrap(body: string): Answered;
}): Required<Wire> {
  const { post, unwrap } = wire;
  const authorization = `Bearer ${wire.applicationSecret}`;
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  const succeeded = (what: string, answer: HttpAnswer): Answered => {
    if (answer.status !== 200) throw wrongAnswer(what, answer);
    return unwrap(answer.body);
  };
  return {
    convert: {
      request: (code) => ({
        method: 'POST',
        headers,
        ...post('convert', JSON.stringify({ code })),
      }),
      result(answer) {
        const { object, grant_id, grant_secret, revoked, account } = succeeded('convert', answer);
        const isRight =
          object === 'oauth_grant' && revoked === false && account?.username === USERNAME;
        if (!isRight || !grant_id || !grant_secret) throw wrongAnswer('convert', answer);
        return { id: grant_id, secret: grant_secret };
      },
    },
    authenticate: {
      request: ({ secret }) => ({
        method: 'GET',
        path: wire.accountPath,
        headers: { Authorization: `Bearer ${secret}` },
      }),
      result(answer) {
        const { object, username } = succeeded('authenticate', answer);
        if (object !== 'service_account' || username !== USERNAME) {
          throw wrongAnswer('authenticate', answer);
        }
      },
    },
    revoke: {
      request: ({ id }) => ({
        method: 'POST',
        headers,
        ...post('revoke', JSON.stringify({ grant_id: id })),
      }),
      result(answer, { id }) {
        const { grant_id, revoked } = succeeded('revoke', answer);
        if (grant_id !== id || revoked !== true) throw wrongAnswer('revoke', answer);
      },
    },
  };
}

/** Latchkey's REST interface. */
export const restWire = (applicationSecret: string): Required<Wire> =>
  latchkeyCalls({
    applicationSecret,
    post: (operation, body) => ({ path: `/oauth/${operation}`, body }),
    accountPath: '/v1/account',
    unwrap: (body) => JSON.parse(body),
  });
