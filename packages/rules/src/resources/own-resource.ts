import { resourceAddress } from '@latchkey/schema';

const comparable = (resource: string) => resourceAddress(resource) ?? resource;

/** Whether it is that of the service: a grant for it is one for no resource. */
export const isOwnResource = (resource: string, publicUrl: string): boolean =>
  comparable(resource) === comparable(`${publicUrl}/v1`);
