import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import { createWorld, serve, type World } from '../outbound/world.ts';

/** What stands at an address, until the test changes it. */
export interface PublishedDocument {
  address: string;
  requests: number;
  /** Members of the document; undefined leaves one out. */
  members: Record<string, unknown>;
  respond(response: ServerResponse): unknown;
}

/** A world for all tests of a file. */
export function useWorld(): World {
  const world = {} as World;
  beforeAll(async () => {
    Object.assign(world, await createWorld());
  });
  afterAll(() => world.close());
  return world;
}

let addresses = 0;

/** Publishes a document until the test has finished. */
export async function publish(
  { pem }: World,
  members: Record<string, unknown> = {},
  host = 'localhost',
): Promise<PublishedDocument> {
  const published: PublishedDocument = {
    address: '',
    requests: 0,
    members,
    respond(response) {
      const body = JSON.stringify({
        client_id: published.address,
        client_name: 'Notes Reader',
        redirect_uris: ['http://127.0.0.1/callback'],
        ...published.members,
      });
      response.setHeader('content-type', 'application/json').end(body);
    },
  };
  const { port } = await serve(pem, (_, response) => {
    published.requests += 1;
    published.respond(response);
  });
  // A port may come again within the seconds for which the service keeps what was there.
  published.address = `https://${host}:${port}/${++addresses}/client.json`;
  return published;
}
