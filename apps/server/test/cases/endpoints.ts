import { ADDRESS, type Cases, page, SINCE } from './case.ts';
import type { World } from './world.ts';

const idOf = ({ endpoint_id }: World) => ({ endpoint_id });

export const endpointCases: Cases<'admin.endpoints.' | 'admin.deliveries.'> = {
  'admin.endpoints.create': {
    input: ({ application_id }) => ({ url: ADDRESS, application_id, types: ['grant.revoked'] }),
  },
  'admin.endpoints.list': { input: ({ application_id }) => ({ application_id, ...page }) },
  'admin.endpoints.get': { input: idOf },
  'admin.endpoints.update': {
    input: (world) => ({
      ...{ ...idOf(world), url: ADDRESS, types: ['grant.revoked'], disabled: false },
    }),
  },
  'admin.endpoints.delete': { input: idOf },
  'admin.endpoints.rotate': { input: (world) => ({ ...idOf(world), overlap_seconds: 60 }) },
  'admin.endpoints.ping': { input: idOf },
  'admin.endpoints.replay': { input: (world) => ({ ...idOf(world), since: SINCE }) },
  'admin.deliveries.list': {
    input: ({ grant: { grant_id } }) => ({ grant_id, status: 'failed', ...page }),
  },
  'admin.deliveries.retry': { input: ({ delivery_id }) => ({ delivery_id }) },
};
