import { randomUUID } from 'node:crypto';
import { errorDefinition, type OperationName } from '@latchkey/schema';
import { succeed } from '../http/call.ts';
import { type ErrorCase, onOperation } from '../http/error-cases.ts';
import { operator, type ServerWithDatabase } from '../http/running-server.ts';
import { CALLBACK, type LinkingApplication, linkingApplication, PUBLIC_URL } from './link-flow.ts';

type Input = Record<string, unknown>;

/** Calls an operation about a new link. */
function onLink(
  name: OperationName,
  arrange: (
    begun: LinkingApplication & { link: string },
    server: ServerWithDatabase,
  ) => Promise<{ input?: Input; members?: object | ((request_id: string) => object) }>,
): ErrorCase['arrange'] {
  return onOperation(name, async (_, server) => {
    const app = await linkingApplication(server);
    const { link } = await app.begin();
    const { input, members } = await arrange({ ...app, link }, server);
    return { input: { link, ...input }, as: operator, ...(members && { members }) };
  });
}

/** Where `link_expired` leads. */
function wayBack(state: string | undefined, request_id: string): string {
  const parameters = new URLSearchParams({
    error: 'access_denied',
    error_description: errorDefinition('link_expired').description,
    error_code: 'link_expired',
    error_uri: `${PUBLIC_URL}/docs/errors#link_expired`,
    request_id,
    state: state ?? '',
    iss: PUBLIC_URL,
  });
  return `${CALLBACK}&${parameters}`;
}

export const linkingErrorCases: ErrorCase[] = [
  {
    code: 'scope_unknown',
    when: 'more is approved than was asked for',
    status: 400,
    error: 'invalid_scope',
    arrange: onLink('admin.links.approve', async ({ account_id }) => ({
      input: { account_id, scope: 'profile.read admin' },
    })),
  },
  ...(['admin.links.identify', 'admin.links.approve'] as const).map(
    (name): ErrorCase => ({
      code: 'account_not_found',
      when: `an unknown account is named by ${name}`,
      status: 404,
      error: 'invalid_request',
      arrange: onLink(name, async () => ({ input: { account_id: randomUUID() } })),
    }),
  ),
  {
    code: 'account_not_found',
    when: 'a page is made for an unknown account',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.pages.create', async () => ({
      input: { page: 'connections', account_id: randomUUID() },
      as: operator,
    })),
  },
  {
    code: 'link_expired',
    when: 'a link is read after an hour',
    status: 410,
    error: 'invalid_request',
    arrange: onLink('admin.links.read', async ({ request }, server) => {
      server.advance(3_600_000);
      const { state } = request;
      return { members: (id: string) => ({ redirect_to: wayBack(state, id) }) };
    }),
  },
  {
    code: 'link_decided',
    when: 'a denied link is approved',
    status: 409,
    error: 'invalid_request',
    arrange: onLink('admin.links.approve', async ({ link, account_id }, server) => {
      await succeed(server, 'admin.links.deny', { link }, operator);
      return { input: { account_id }, members: { status: 'denied' } };
    }),
  },
  {
    code: 'account_changed',
    when: 'another account is approved than was identified',
    status: 409,
    error: 'invalid_request',
    arrange: onLink('admin.links.approve', async ({ link, account_id }, server) => {
      await succeed(server, 'admin.links.identify', { link, account_id }, operator);
      const other = randomUUID();
      await succeed(server, 'admin.accounts.put', { account_id: other, username: 'bob' }, operator);
      return { input: { account_id: other } };
    }),
  },
  ...['x', 'lk_link_x'].map(
    (link): ErrorCase => ({
      code: 'link_not_found',
      when: `the link is "${link}"`,
      status: 404,
      error: 'invalid_request',
      arrange: onLink('admin.links.deny', async () => ({ input: { link } })),
    }),
  ),
];
