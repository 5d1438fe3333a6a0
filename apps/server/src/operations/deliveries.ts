import { retryDelivery } from '@latchkey/rules/events/deliveries';
import { toDelivery } from './events-wire.ts';
import { readList } from './list.ts';
import type { OperationRows } from './row.ts';

export const deliveryRows: OperationRows<'admin.deliveries'> = {
  'admin.deliveries.list': {
    audited: 'refusals',
    ids: { endpoint_id: 'input.endpoint_id', grant_id: 'input.grant_id' },
    handle: ({ store, clock }, { endpoint_id, grant_id, status, ...part }) => {
      const filter = endpoint_id === undefined ? { grant_id } : { endpoint_id };
      return readList(
        part,
        (range) => store.listDeliveries({ ...filter, status }, range),
        ({ id }) => id,
        (delivery) => toDelivery(delivery, clock()),
      );
    },
  },
  'admin.deliveries.retry': {
    audited: 'always',
    ids: {
      delivery_id: 'input.delivery_id',
      endpoint_id: 'output.endpoint_id',
      grant_id: 'output.grant_id',
      account_id: 'output.account_id',
    },
    handle: async (service, { delivery_id }) =>
      toDelivery(await retryDelivery(service, delivery_id), service.clock()),
  },
};
