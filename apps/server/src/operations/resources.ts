import { scopeMarksOf } from '@latchkey/rules/audit/name-marks';
import {
  createResource,
  deleteResource,
  updateResource,
} from '@latchkey/rules/resources/register-resource';
import { toCompleteList, toResource } from './linking-wire.ts';
import type { OperationRows } from './row.ts';

export const resourceRows: OperationRows<'admin.resources'> = {
  'admin.resources.create': {
    audited: 'always',
    ids: { resource_id: 'output.id' },
    handle: async (service, input, _operator, _initiator, { publicUrl }) =>
      toResource(await createResource(service, input, publicUrl())),
  },
  'admin.resources.list': {
    audited: 'refusals',
    ids: {},
    handle: async ({ store }) => toCompleteList((await store.listResources()).map(toResource)),
  },
  'admin.resources.update': {
    audited: 'always',
    ids: { resource_id: 'input.resource_id' },
    handle: async (service, input, _operator, _initiator, { ids }) => {
      const { resource_id, resource: _, ...changes } = input;
      const resource = await updateResource(service, resource_id, changes);
      if (changes.scopes !== undefined) ids.scopes = scopeMarksOf(changes.scopes);
      return toResource(resource);
    },
  },
  'admin.resources.delete': {
    audited: 'always',
    ids: { resource_id: 'input.resource_id' },
    handle: async (service, { resource_id }) =>
      toResource(await deleteResource(service, resource_id)),
  },
};
