import { randomUUID } from 'node:crypto';
import { errorDefinition } from '@latchkey/schema';
import { unknownCredential } from '../http/unknown-credential.ts';
import {
  CALLBACK,
  type LinkingApplication,
  linkingApplication,
  PUBLIC_URL,
} from '../linking/link-flow.ts';
import type { Arrange, Cases, Context, Faults, RefusedCall } from './case.ts';

/** Prepares a call about a new link. */
const onLink =
  (
    arrange: (
      begun: LinkingApplication & { link: string },
      context: Context,
    ) => Promise<RefusedCall>,
    others: object = {},
  ): Arrange =>
  async (context) => {
    const app = await linkingApplication(context.server);
    const { link } = await app.begin();
    const { account_id } = app;
    const about = 'account_id' in others ? { account_id } : {};
    const { input, ...rest } = await arrange({ ...app, link }, context);
    return { input: { link, ...about, ...input }, ...rest };
  };

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

const ofAccount = { account_id: true };

const link_not_found = (others: object = {}): Faults => ({
  link_ill_formed: ['x', 'lk_link_x'].map((link) =>
    onLink(async () => ({ input: { link } }), others),
  ),
  link_unknown: onLink(async () => ({ input: { link: unknownCredential('link') } }), others),
});
const link_expired = (others: object = {}): Faults => ({
  'an hour has passed': onLink(async ({ request }, { server }) => {
    server.advance(3_600_000);
    return { members: (id) => ({ redirect_to: wayBack(request.state, id) }) };
  }, others),
});
const link_decided: Faults = {
  'it was denied': onLink(async ({ link }, { call }) => {
    await call('admin.links.deny', { link });
    return { members: { status: 'denied' } };
  }, ofAccount),
};
const account_not_found: Faults = {
  'it is unknown': onLink(async () => ({ input: { account_id: randomUUID() } })),
};

export const linkCases: Cases<'admin.links.'> = {
  'admin.links.read': {
    input: ({ link }) => ({ link }),
    faults: { link_not_found: link_not_found(), link_expired: link_expired() },
  },
  'admin.links.identify': {
    input: ({ link, account_id }) => ({
      ...{ link, account_id, locale: 'de', own_page: false },
      choice: { title: 'Which workspace?', options: [{ id: 'ws-7', label: 'Acme Inc.' }] },
    }),
    faults: {
      ...{ link_not_found: link_not_found(ofAccount), link_expired: link_expired(ofAccount) },
      ...{ link_decided, account_not_found },
    },
  },
  'admin.links.approve': {
    input: ({ link, account_id }) => ({
      ...{ link, account_id, scope: 'profile.read' },
      choice: { id: 'ws-7', label: 'Acme Inc.' },
    }),
    faults: {
      ...{ link_not_found: link_not_found(ofAccount), link_expired: link_expired(ofAccount) },
      ...{ link_decided, account_not_found },
      scope_unknown: {
        scope_not_asked_for: onLink(
          async () => ({ input: { scope: 'profile.read admin' } }),
          ofAccount,
        ),
      },
      account_changed: {
        'another was identified': onLink(async ({ link, account_id }, { call }) => {
          await call('admin.links.identify', { link, account_id });
          const other = { account_id: randomUUID(), username: 'bob' };
          await call('admin.accounts.put', other);
          return { input: { account_id: other.account_id } };
        }),
      },
    },
  },
  'admin.links.deny': {
    input: ({ link }) => ({ link }),
    faults: {
      ...{ link_not_found: link_not_found(), link_expired: link_expired() },
      link_decided: {
        'it was approved': onLink(async ({ link, account_id }, { call }) => {
          await call('admin.links.approve', { link, account_id });
          return { members: { status: 'approved' } };
        }),
      },
    },
  },
};
