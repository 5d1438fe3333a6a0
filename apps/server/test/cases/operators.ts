import { invoke } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { type Cases, unknown } from './case.ts';

export const readKey = { name: 'Ada', role: 'read' };

/** What an operator asks about the service, and its keys. */
export const operatorCases: Cases<
  'admin.keys.' | 'admin.self.' | 'admin.settings.' | 'admin.summary.'
> = {
  'admin.keys.create': {
    input: () => ({ name: 'Eve', role: 'read', expires_at: '2099-01-01T00:00:00Z' }),
    faults: {
      key_limit_reached: {
        'a 51st is created': async ({ server }) => {
          for (let have = 0; have < 50; have++) {
            // On the other wire, they were created before.
            await invoke(server, 'REST', 'admin.keys.create', readKey, operator);
          }
          return { input: readKey };
        },
      },
    },
  },
  'admin.keys.list': { input: () => ({}) },
  'admin.keys.delete': {
    input: ({ key_id }) => ({ key_id }),
    faults: { key_not_found: unknown('key_id') },
  },
  'admin.self.get': { input: () => ({}) },
  'admin.settings.get': { input: () => ({}) },
  'admin.summary.get': { input: () => ({ hours: 1 }) },
};
