import type { Cases } from './case.ts';

const scopes = ['profile.read'];

/** What an operator registers besides applications: scopes and resources. */
export const registryCases: Cases<'admin.scopes.' | 'admin.resources.'> = {
  'admin.scopes.put': {
    input: () => ({
      ...{ scope: 'eve', title: 'Eve', description: 'Eve', texts: {}, sensitive: false },
    }),
  },
  'admin.scopes.list': { input: () => ({}) },
  'admin.scopes.delete': { input: () => ({ scope: 'eve' }) },
  'admin.resources.create': {
    input: () => ({
      ...{ resource: 'https://eve.example/mcp', name: 'Eve', scopes, default_scopes: scopes },
    }),
  },
  'admin.resources.list': { input: () => ({}) },
  // Any `resource` is ignored there, so it has no value that is refused.
  'admin.resources.update': {
    input: ({ resource_id }) => ({ resource_id, name: 'Eve', scopes, default_scopes: scopes }),
  },
  'admin.resources.delete': { input: ({ resource_id }) => ({ resource_id }) },
};
