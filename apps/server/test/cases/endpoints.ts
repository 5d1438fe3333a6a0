import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { ADDRESS, type Cases, type Context, type Faults, page, SINCE, unknown } from './case.ts';
import type { World } from './world.ts';

const idOf = ({ endpoint_id }: World) => ({ endpoint_id });
const endpoint_not_found = unknown('endpoint_id');

/** Nobody listens there. */
const anEndpoint = async ({ application_id, call }: Context): Promise<string> =>
  (await call('admin.endpoints.create', { url: 'http://127.0.0.1:9/events', application_id })).id;

const disabled = (others: object = {}): Faults => ({
  'it is disabled': async (context) => {
    const endpoint_id = await anEndpoint(context);
    await context.call('admin.endpoints.update', { endpoint_id, disabled: true });
    return { input: { endpoint_id, ...others } };
  },
});

/** A delivery of an endpoint, which no other process has from then on. */
async function claimed({ application_id, call, server }: Context, endpoint_id: string) {
  for (const verb of ['disable', 'enable'] as const) {
    await call(`admin.applications.${verb}`, { application_id });
  }
  return vi.waitFor(async () => {
    const [claim] = await server.service.store.claimDeliveries({
      ...{ now: server.now() + 3_600_000, claim: randomUUID() },
      endpoints: [{ id: endpoint_id, most: 9 }],
    });
    expect(claim).toBeDefined();
    return claim?.delivery.id;
  }, 20_000);
}

export const endpointCases: Cases<'admin.endpoints.' | 'admin.deliveries.'> = {
  'admin.endpoints.create': {
    input: ({ application_id }) => ({ url: ADDRESS, application_id, types: ['grant.revoked'] }),
    faults: {
      application_not_found: unknown('application_id', { url: ADDRESS }),
      endpoint_limit_reached: {
        'a fourth of an application is created': async ({ application_id, call }) => {
          const input = { url: ADDRESS, application_id };
          for (let have = 0; have < 3; have++) await call('admin.endpoints.create', input);
          return { input };
        },
      },
    },
  },
  'admin.endpoints.list': { input: ({ application_id }) => ({ application_id, ...page }) },
  'admin.endpoints.get': { input: idOf, faults: { endpoint_not_found } },
  'admin.endpoints.update': {
    input: (world) => ({
      ...{ ...idOf(world), url: ADDRESS, types: ['grant.revoked'], disabled: false },
    }),
    faults: { endpoint_not_found },
  },
  'admin.endpoints.delete': { input: idOf, faults: { endpoint_not_found } },
  'admin.endpoints.rotate': {
    input: (world) => ({ ...idOf(world), overlap_seconds: 60 }),
    faults: { endpoint_not_found },
  },
  'admin.endpoints.ping': {
    input: idOf,
    faults: { endpoint_not_found, endpoint_disabled: disabled() },
  },
  'admin.endpoints.replay': {
    input: (world) => ({ ...idOf(world), since: SINCE }),
    faults: {
      endpoint_not_found: unknown('endpoint_id', { since: SINCE }),
      endpoint_disabled: disabled({ since: SINCE }),
    },
  },
  'admin.deliveries.list': {
    input: ({ grant: { grant_id } }) => ({ grant_id, status: 'failed', ...page }),
  },
  'admin.deliveries.retry': {
    input: ({ delivery_id }) => ({ delivery_id }),
    faults: {
      delivery_not_found: unknown('delivery_id'),
      delivery_pending: {
        'it is under way': async (context) => ({
          input: { delivery_id: await claimed(context, await anEndpoint(context)) },
        }),
      },
      endpoint_not_found: {
        'it was deleted': async (context) => {
          const endpoint_id = await anEndpoint(context);
          const { id: delivery_id } = await context.call('admin.endpoints.ping', { endpoint_id });
          await context.call('admin.endpoints.delete', { endpoint_id });
          return { input: { delivery_id } };
        },
      },
      endpoint_disabled: {
        'it is disabled': async (context) => {
          const endpoint_id = await anEndpoint(context);
          const { id: delivery_id } = await context.call('admin.endpoints.ping', { endpoint_id });
          await context.call('admin.endpoints.update', { endpoint_id, disabled: true });
          return { input: { delivery_id } };
        },
      },
    },
  },
};
