import { DomainError } from '@latchkey/domain/domain-error';
import { putScope } from '@latchkey/rules/linking/put-scope';
import { toCompleteList, toScope } from './linking-wire.ts';
import type { OperationRows } from './row.ts';

export const scopeRows: OperationRows<'admin.scopes'> = {
  'admin.scopes.put': {
    audited: 'always',
    ids: { scope: 'input.scope' },
    handle: async (service, scope) => {
      await putScope(service, scope);
      return toScope(scope);
    },
  },
  'admin.scopes.list': {
    audited: 'refusals',
    ids: {},
    handle: async ({ store }) => toCompleteList((await store.listScopes()).map(toScope)),
  },
  'admin.scopes.delete': {
    audited: 'always',
    ids: { scope: 'input.scope' },
    handle: async ({ store }, { scope }) => {
      const deleted = await store.deleteScope(scope);
      if (deleted === null) throw new DomainError('scope_not_found');
      return toScope(deleted);
    },
  },
};
