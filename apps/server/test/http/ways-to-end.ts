import type { EndReason } from '@latchkey/store/records';
import { callOperation } from '../../src/operations/call-operation.ts';
import { open, visit } from '../linking/page-flow.ts';
import { type Json, succeed } from './call.ts';
import { confidentialMethods, postForm } from './forms.ts';
import type { LinkedApplication } from './linked-application.ts';
import { operator, type ServerWithDatabase } from './running-server.ts';

const DAY = 86_400_000;

/** A way in which a grant ends. */
export interface WayToEnd {
  name: string;
  reason: EndReason;
  /** The file of the server that calls the store. */
  by: string;
  end(linked: LinkedApplication, grant: Json): Promise<unknown>;
}

/** Every way: `test/events/ends.test.ts` fails if the server has another one. */
export function waysToEnd(server: ServerWithDatabase): WayToEnd[] {
  const call = (name: Parameters<typeof succeed>[1], input: object) =>
    succeed(server, name, input as Record<string, unknown>, operator);
  async function disable({ application_id }: LinkedApplication): Promise<void> {
    await call('admin.applications.disable', { application_id });
  }
  const asForm = (linked: LinkedApplication) =>
    confidentialMethods.client_secret_basic(linked).authorization;

  return [
    {
      name: 'its application',
      reason: 'application',
      by: 'grants/revoke.ts',
      end: ({ bearer }, { grant_id }) => succeed(server, 'grants.revoke', { grant_id }, bearer),
    },
    {
      name: 'its application, over OAuth',
      reason: 'application',
      by: 'grants/revoke-token.ts',
      end: (linked, { grant_secret: token }) =>
        postForm(server, '/oauth/revoke', { token }, asForm(linked)),
    },
    {
      name: 'the operator',
      reason: 'host',
      by: 'grants/revoke.ts',
      end: (_, { grant_id }) => call('admin.grants.revoke', { grant_id }),
    },
    {
      name: 'a command',
      reason: 'host',
      by: 'grants/revoke.ts',
      end: (_, { grant_id }) =>
        callOperation(
          server.service,
          'admin.grants.revoke',
          { grant_id },
          { by: 'command_line', os_user: 'ada' },
        ),
    },
    {
      name: 'the operator, of an account',
      reason: 'host',
      by: 'work/runner.ts',
      end: ({ account_id }) => call('admin.grants.revokeAll', { account_id }),
    },
    {
      name: 'the operator, of an application',
      reason: 'host',
      by: 'work/runner.ts',
      end: ({ application_id }) => call('admin.grants.revokeAll', { application_id }),
    },
    {
      name: 'the operator, of a connection',
      reason: 'host',
      by: 'work/runner.ts',
      end: ({ account_id, application_id }) =>
        call('admin.connections.revoke', { account_id, application_id }),
    },
    {
      name: 'its user, on a page',
      reason: 'user',
      by: 'work/runner.ts',
      end: async ({ account_id, application_id }) => {
        const page = { page: 'connections', account_id, return_url: 'https://host.example/' };
        const { url } = await call('admin.pages.create', page);
        const { cookie } = await open(server, url);
        const path = `/connections/${application_id}`;
        const { text } = await visit(server, path, { cookie });
        const form_token = /name="form_token" value="([^"]+)"/.exec(text)?.[1] ?? '';
        const form = { form_token, decision: 'disconnect' };
        return visit(server, path, { cookie, form });
      },
    },
    {
      name: 'an erasure',
      reason: 'account_erased',
      by: 'work/runner.ts',
      end: ({ account_id }) => call('admin.accounts.erase', { account_id }),
    },
    {
      name: 'the deletion of its application',
      reason: 'application_deleted',
      by: 'work/runner.ts',
      end: async (linked) => {
        await disable(linked);
        return call('admin.applications.delete', { application_id: linked.application_id });
      },
    },
    {
      name: 'not being used',
      reason: 'idle',
      by: 'grants/end-idle-grants.ts',
      end: async ({ application_id }) => {
        // The service reads the time of the newest code when it first looks.
        await server.service.idleGrants.end();
        await call('admin.applications.update', { application_id, idle_days: 1 });
        server.advance(2 * DAY + 1);
        await server.service.idleGrants.end();
      },
    },
    {
      name: 'a later conversion',
      reason: 'replaced',
      by: 'grants/end-replaced-grants.ts',
      end: async (linked) => {
        const { application_id } = linked;
        await call('admin.applications.update', { application_id, grants_per_account: 1 });
        server.advance(1);
        await linked.link();
      },
    },
  ];
}
