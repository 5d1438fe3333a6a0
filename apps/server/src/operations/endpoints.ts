import { replayDeliveries } from '@latchkey/rules/events/deliveries';
import {
  createEndpoint,
  deleteEndpoint,
  findEndpoint,
  pingEndpoint,
  rotateEndpoint,
  updateEndpoint,
} from '@latchkey/rules/events/endpoints';
import { eventsOf } from '@latchkey/rules/events/events';
import type { Service } from '@latchkey/rules/service';
import type { EndpointRecord } from '@latchkey/store/records';
import type { Operator } from './caller.ts';
import { toDelivery, toEndpoint } from './events-wire.ts';
import { readList } from './list.ts';
import type { OperationRows } from './row.ts';

export const endpointRows: OperationRows<'admin.endpoints'> = {
  'admin.endpoints.create': {
    audited: 'always',
    ids: { application_id: 'input.application_id', endpoint_id: 'output.id' },
    handle: async (service, members, operator) => {
      await eventsOf(service).admitKeys();
      return withSecret(service, await createEndpoint(service, members), operator);
    },
  },
  'admin.endpoints.list': {
    audited: 'refusals',
    ids: { application_id: 'input.application_id' },
    handle: ({ store }, { application_id, ...part }, operator) =>
      readList(
        part,
        (range) => store.listEndpoints({ application_id }, range),
        ({ id }) => id,
        (endpoint) => toEndpoint(endpoint, operator),
      ),
  },
  'admin.endpoints.get': {
    audited: 'refusals',
    ids: { endpoint_id: 'input.endpoint_id' },
    handle: async (service, { endpoint_id }, operator) =>
      toEndpoint(await findEndpoint(service, endpoint_id), operator),
  },
  'admin.endpoints.update': {
    audited: 'always',
    ids: { endpoint_id: 'input.endpoint_id', application_id: 'output.application_id' },
    handle: async (service, input, operator, _initiator, { ids }) => {
      const { endpoint_id, ...changes } = input;
      const endpoint = await updateEndpoint(service, endpoint_id, changes);
      // From this, a restore knows whether to disable it again.
      if (changes.disabled !== undefined) ids.disabled = `${changes.disabled}`;
      return toEndpoint(endpoint, operator);
    },
  },
  'admin.endpoints.delete': {
    audited: 'always',
    ids: { endpoint_id: 'input.endpoint_id', application_id: 'output.application_id' },
    handle: async (service, { endpoint_id }, operator) =>
      toEndpoint(await deleteEndpoint(service, endpoint_id), operator),
  },
  'admin.endpoints.rotate': {
    audited: 'always',
    ids: { endpoint_id: 'input.endpoint_id', application_id: 'output.application_id' },
    handle: async (service, input, operator, _initiator, { ids }) => {
      const { endpoint_id, overlap_seconds } = input;
      await eventsOf(service).admitKeys();
      const endpoint = await rotateEndpoint(service, endpoint_id, overlap_seconds * 1000);
      // From this, a restore brings the backup to the same secret.
      ids.secret_version = `${endpoint.secret_version}`;
      return withSecret(service, endpoint, operator);
    },
  },
  'admin.endpoints.ping': {
    audited: 'always',
    ids: { endpoint_id: 'input.endpoint_id', delivery_id: 'output.id' },
    handle: async (service, { endpoint_id }) =>
      toDelivery(await pingEndpoint(service, endpoint_id), service.clock()),
  },
  'admin.endpoints.replay': {
    audited: 'always',
    ids: { endpoint_id: 'input.endpoint_id' },
    handle: async (service, { endpoint_id, since }) => ({
      ...{ object: 'replay', endpoint_id },
      count: await replayDeliveries(service, endpoint_id, Date.parse(since)),
    }),
  },
};

const withSecret = (service: Service, endpoint: EndpointRecord, operator: Operator) => ({
  ...toEndpoint(endpoint, operator),
  secret: eventsOf(service).secretOf(endpoint),
});
