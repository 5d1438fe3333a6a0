import type { FullGrant } from '@latchkey/schema';
import type { ClientResponse, CodeOfLink, DemoClient, ShownCall } from './demo-client.ts';

const linkExperiments = ['connect', 'race', 'lost', 'replay'] as const;

/** What the demo can try with the code of a link. */
export type LinkExperiment = (typeof linkExperiments)[number];

/** Any other text just connects. */
export const linkExperimentOf = (text: string | null | undefined): LinkExperiment =>
  linkExperiments.find((experiment) => experiment === text) ?? 'connect';

export interface ShownExperiment {
  readonly experiment: LinkExperiment | 'end';
  readonly calls: readonly ShownCall[];
}

const AT_ONCE = 8;

type Experiment = (client: DemoClient, link: CodeOfLink) => Promise<ClientResponse<FullGrant>[]>;

const experiments: Record<LinkExperiment, Experiment> = {
  connect: async (client, link) => [await client.convert(link)],
  async race(client, link) {
    const sent = Array.from({ length: AT_ONCE }, () => client.convert(link));
    // What is sent at once has no order: the request that got the grant is shown first.
    return (await Promise.all(sent)).toSorted((one, other) => rank(one) - rank(other));
  },
  async lost(client, link) {
    const first = await client.convert(link);
    if (first.body === null) return [first];
    const lost = { call: { ...first.call, status: null, received: null }, body: null, error: null };
    const again = await client.convert(link);
    const { grant_id } = again.error ?? {};
    if (grant_id === undefined) return [lost, again];
    return [lost, again, await client.recover(grant_id)];
  },
  async replay(client, link) {
    return [
      await client.convert(link),
      await client.convert(link),
      await client.convertAsStranger(link),
    ];
  },
};

const rank = ({ body }: ClientResponse<FullGrant>) => (body === null ? 1 : 0);

/** Converts a code as an experiment does. The grant is null if it was refused. */
export async function convertFor(
  experiment: LinkExperiment,
  client: DemoClient,
  link: CodeOfLink,
): Promise<{ grant: FullGrant | null; shown: ShownExperiment }> {
  const responses = await experiments[experiment](client, link);
  const grant = responses.find(({ body }) => body !== null)?.body ?? null;
  const used = grant === null ? [] : [await client.readGrant(grant.grant_secret)];
  return { grant, shown: { experiment, calls: [...responses, ...used].map(({ call }) => call) } };
}

/** Ends a grant, and calls with it as soon as the response is there. */
export async function endAndCall(
  client: DemoClient,
  { grant_id, grant_secret }: Pick<FullGrant, 'grant_id' | 'grant_secret'>,
): Promise<ShownExperiment> {
  const revoked = await client.revoke(grant_id);
  const called = await client.readGrant(grant_secret);
  return { experiment: 'end', calls: [revoked.call, called.call] };
}
