import { invoke } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { aResource, type Cases, unknown } from './case.ts';

const scopes = ['profile.read'];

/** What an operator registers besides applications: scopes and resources. */
export const registryCases: Cases<'admin.scopes.' | 'admin.resources.'> = {
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
};
