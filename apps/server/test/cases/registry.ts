import { invoke } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { aResource, type Cases, unknown } from './case.ts';
import { aDocument } from './world.ts';

const scopes = ['profile.read'];

/** What an operator registers besides applications. */
export const registryCases: Cases<'admin.scopes.' | 'admin.resources.' | 'admin.documents.'> = {
  'admin.scopes.put': {
    input: () => ({
      ...{ scope: 'eve', title: 'Eve', description: 'Eve', texts: {}, sensitive: false },
    }),
    faults: {
      scope_limit_reached: {
        'a 201st is described': async ({ server }) => {
          for (let have = 0; have < 200; have++) {
            // On the other wire, they were described before.
            const scope = { scope: `s${have}`, title: 'One' };
            await invoke(server, 'REST', 'admin.scopes.put', scope, operator);
          }
          return { input: { scope: 'one.more', title: 'One more' } };
        },
      },
    },
  },
  'admin.scopes.list': { input: () => ({}) },
  'admin.scopes.delete': {
    input: () => ({ scope: 'eve' }),
    faults: {
      scope_not_found: { 'it is not described': () => ({ input: { scope: 'nobody.knows' } }) },
    },
  },
  'admin.resources.create': {
    input: ({ account_id }) => ({
      ...{ resource: `https://eve.example/${account_id}`, name: 'Eve' },
      ...{ scopes, default_scopes: scopes },
    }),
    faults: {
      resource_exists: {
        'it is written in other words': async (context) => ({
          input: { resource: `${(await aResource(context)).toUpperCase()}/`, name: 'Again' },
        }),
      },
      resource_limit_reached: {
        'a 201st is created': async ({ server }) => {
          for (let have = 0; have < 200; have++) {
            const resource = { resource: `https://mcp${have}.example`, name: 'One' };
            await invoke(server, 'REST', 'admin.resources.create', resource, operator);
          }
          return { input: { resource: 'https://one.more.example', name: 'One more' } };
        },
      },
    },
  },
  'admin.resources.list': { input: () => ({}) },
  // Any `resource` is ignored there, so it has no value that is refused.
  'admin.resources.update': {
    input: ({ resource_id }) => ({ resource_id, name: 'Eve', scopes, default_scopes: scopes }),
    faults: { resource_not_found: unknown('resource_id') },
  },
  'admin.resources.delete': {
    input: ({ resource_id }) => ({ resource_id }),
    faults: { resource_not_found: unknown('resource_id') },
  },
  'admin.documents.pin': {
    input: ({ account_id }) => aDocument(`https://eve.example/${account_id}`),
    faults: {
      document_limit_reached: {
        'a 101st is pinned': async ({ server }) => {
          for (let have = 0; have < 100; have++) {
            const document = aDocument(`https://docs.example/${have}`);
            await invoke(server, 'REST', 'admin.documents.pin', document, operator);
          }
          return { input: aDocument('https://docs.example/one-more') };
        },
      },
    },
  },
  'admin.documents.unpin': {
    input: ({ document_uri }) => ({ document_uri }),
    faults: {
      document_not_found: {
        'it is not pinned': () => ({ input: { document_uri: 'https://nobody.example/knows' } }),
      },
    },
  },
  'admin.documents.list': { input: () => ({ pinned: true, limit: 1, cursor: CURSOR }) },
};

const CURSOR = Buffer.from('https://a.example/').toString('base64url');
