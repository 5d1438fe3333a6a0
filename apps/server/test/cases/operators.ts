import type { Cases } from './case.ts';

/** What an operator asks about the service, and its keys. */
export const operatorCases: Cases<
  'admin.keys.' | 'admin.self.' | 'admin.settings.' | 'admin.summary.'
> = {
  'admin.keys.create': {
    input: () => ({ name: 'Eve', role: 'read', expires_at: '2099-01-01T00:00:00Z' }),
  },
  'admin.keys.list': { input: () => ({}) },
  'admin.keys.delete': { input: ({ key_id }) => ({ key_id }) },
  'admin.self.get': { input: () => ({}) },
  'admin.settings.get': { input: () => ({}) },
  'admin.summary.get': { input: () => ({ hours: 1 }) },
};
