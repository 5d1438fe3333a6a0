import type { FullGrant } from '@latchkey/schema';
import type { CodeOfLink, DemoClient, Exchange } from './demo-client.ts';

/** What the demo shows of a link, beside that it works. */
export const linkProofs = ['race', 'lost', 'replay'] as const;

export type LinkProof = (typeof linkProofs)[number];

export function isLinkProof(text: string | null | undefined): text is LinkProof {
  return linkProofs.some((proof) => proof === text);
}

/** What went over the wire. */
export interface Shown {
  readonly proof: LinkProof | 'end';
  readonly exchanges: readonly Exchange[];
}

const AT_ONCE = 8;

/** Converts a code in the way that a proof asks for. The grant is null if it was refused. */
export async function convertFor(
  proof: LinkProof | null,
  client: DemoClient,
  link: CodeOfLink,
): Promise<{ grant: FullGrant | null; shown: Shown | null }> {
  if (proof === null) {
    const { body } = await client.convert(link);
    return { grant: body, shown: null };
  }
  const { grant, exchanges } = await attempts[proof](client, link);
  const used = grant === null ? [] : [(await client.readGrant(grant.grant_secret)).exchange];
  return { grant, shown: { proof, exchanges: [...exchanges, ...used] } };
}

type Attempt = (
  client: DemoClient,
  link: CodeOfLink,
) => Promise<{ grant: FullGrant | null; exchanges: Exchange[] }>;

const attempts: Record<LinkProof, Attempt> = {
  async race(client, link) {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => client.convert(link)));
    return {
      grant: answers.find(({ body }) => body !== null)?.body ?? null,
      exchanges: answers.map(({ exchange }) => exchange),
    };
  },
  async lost(client, link) {
    const first = await client.convert(link, { isLost: true });
    const again = await client.convert(link);
    const { grant_id } = again.error ?? {};
    if (grant_id === undefined) {
      return { grant: again.body, exchanges: [first.exchange, again.exchange] };
    }
    const recovered = await client.recover(grant_id);
    return {
      grant: recovered.body,
      exchanges: [first.exchange, again.exchange, recovered.exchange],
    };
  },
  async replay(client, link) {
    const first = await client.convert(link);
    const again = await client.convert(link);
    const stranger = await client.convert(link, { isStranger: true });
    return {
      grant: first.body,
      exchanges: [first, again, stranger].map(({ exchange }) => exchange),
    };
  },
};

/** Ends a grant, and calls with it as soon as the answer is there. */
export async function endAndCall(
  client: DemoClient,
  { grant_id, grant_secret }: Pick<FullGrant, 'grant_id' | 'grant_secret'>,
): Promise<Shown> {
  const revoked = await client.revoke(grant_id);
  const called = await client.readGrant(grant_secret);
  return { proof: 'end', exchanges: [revoked.exchange, called.exchange] };
}
