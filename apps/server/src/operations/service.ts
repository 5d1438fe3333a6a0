import { summarize } from '@latchkey/rules/summary/summary';
import type { OperationRows } from './row.ts';

/** What operators read of the service itself. */
export const serviceRows: OperationRows<'admin.settings' | 'admin.summary'> = {
  'admin.settings.get': {
    audited: 'refusals',
    ids: {},
    handle: async ({ settings }) => ({ object: 'settings', data: settings() }),
  },
  'admin.summary.get': {
    audited: 'refusals',
    ids: {},
    handle: (service, { hours }) => summarize(service, hours),
  },
};
