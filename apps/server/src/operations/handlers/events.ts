import { replayDeliveries, retryDelivery } from '@latchkey/rules/events/deliveries';
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
import type { Operator } from '../caller.ts';
import { toDelivery, toEndpoint } from '../events-wire.ts';
import type { Handlers } from '../handler.ts';
import { readList } from '../list.ts';

type EventsName = Extract<keyof Handlers, `admin.${'endpoints' | 'deliveries'}.${string}`>;

export const eventsHandlers: Handlers<EventsName> = {
  'admin.endpoints.create': async (service, members, operator) => {
    await eventsOf(service).admitKeys();
    return withSecret(service, await createEndpoint(service, members), operator);
  },
  'admin.endpoints.list': ({ store }, { application_id, ...part }, operator) =>
    readList(
      part,
      (range) => store.listEndpoints({ application_id }, range),
      ({ id }) => id,
      (endpoint) => toEndpoint(endpoint, operator),
    ),
  'admin.endpoints.get': async (service, { endpoint_id }, operator) =>
    toEndpoint(await findEndpoint(service, endpoint_id), operator),
  'admin.endpoints.update': async (service, input, operator, _initiator, { ids }) => {
    const { endpoint_id, ...changes } = input;
    const endpoint = await updateEndpoint(service, endpoint_id, changes);
    // From this, a restore knows whether to disable it again.
    if (changes.disabled !== undefined) ids.disabled = `${changes.disabled}`;
    return toEndpoint(endpoint, operator);
  },
  'admin.endpoints.delete': async (service, { endpoint_id }, operator) =>
    toEndpoint(await deleteEndpoint(service, endpoint_id), operator),
  'admin.endpoints.rotate': async (
    service,
    { endpoint_id, overlap_seconds },
    operator,
    _initiator,
    { ids },
  ) => {
    await eventsOf(service).admitKeys();
    const endpoint = await rotateEndpoint(service, endpoint_id, overlap_seconds * 1000);
    // From this, a restore brings the backup to the same secret.
    ids.secret_version = `${endpoint.secret_version}`;
    return withSecret(service, endpoint, operator);
  },
  'admin.endpoints.ping': async (service, { endpoint_id }) =>
    toDelivery(await pingEndpoint(service, endpoint_id), service.clock()),
  'admin.endpoints.replay': async (service, { endpoint_id, since }) => ({
    ...{ object: 'replay', endpoint_id },
    count: await replayDeliveries(service, endpoint_id, Date.parse(since)),
  }),
  'admin.deliveries.list': ({ store, clock }, { endpoint_id, grant_id, status, ...part }) => {
    const filter = endpoint_id === undefined ? { grant_id } : { endpoint_id };
    return readList(
      part,
      (range) => store.listDeliveries({ ...filter, status }, range),
      ({ id }) => id,
      (delivery) => toDelivery(delivery, clock()),
    );
  },
  'admin.deliveries.retry': async (service, { delivery_id }) =>
    toDelivery(await retryDelivery(service, delivery_id), service.clock()),
};

const withSecret = (service: Service, endpoint: EndpointRecord, operator: Operator) => ({
  ...toEndpoint(endpoint, operator),
  secret: eventsOf(service).secretOf(endpoint),
});
