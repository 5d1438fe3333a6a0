import { succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import type { Intent, KnownGrant, KnownSecret } from './generator.ts';
import type { Call } from './history.ts';
import type { Recorder } from './recorder.ts';

const AT_ONCE = 8;

/** What is needed to look at what a run has left. */
export interface Remains {
  grants: readonly KnownGrant[];
  secrets: readonly KnownSecret[];
  application_ids: readonly string[];
}

/**
 * Looks at everything once the load is over, through the API: what the list says of each grant,
 * each secret that was ever handed out, and each code, over both routes and with a wrong verifier. What it asks is a part of the history
 * and under the same rules.
 *
 * @returns the calls that the recorder did not make
 */
export async function readAll(
  recorder: Recorder,
  now: () => number,
  { grants, secrets, application_ids }: Remains,
): Promise<Call[]> {
  const start = now();
  const listed = await listGrants(recorder.urls.A, application_ids);
  const end = now();
  const finds = grants.map(({ name, grant_id }, index): Call => {
    const entry = listed.get(grant_id);
    return {
      ...{ id: `list/${index}`, operation: 'find', grant: name, server: 'A', wire: 'REST' },
      ...{ start, end },
      answer: {
        status: 200,
        found: entry !== undefined,
        ...(entry && { revoked: entry.revoked, created_at: entry.created_at }),
      },
    };
  });

  const waiting = [...grants];
  async function readNext(): Promise<void> {
    for (let grant = waiting.pop(); grant; grant = waiting.pop()) {
      const own = secrets.filter((secret) => secret.grant === grant.name);
      await readGrant(recorder, grant, own);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, readNext));
  return finds;
}

async function readGrant(
  recorder: Recorder,
  grant: KnownGrant,
  secrets: readonly KnownSecret[],
): Promise<void> {
  async function ask(what: Pick<Intent, 'operation' | 'secret'> & Partial<Intent>) {
    const way = { application: 'own', server: 'A', wire: 'REST', cutAfter: null } as const;
    const outcome = await recorder.make({ ...way, ...what, grant });
    const status = outcome?.call.answer?.status ?? 503;
    // There are no faults any more. A run that can't be read to its end proves nothing.
    if (status === 503) throw new Error(`The service did not answer in the end (${grant.name}).`);
    return { id: outcome?.call.id ?? '', status, secret: outcome?.secret };
  }
  const use = (secret: KnownSecret) => ask({ operation: 'authenticate', secret });

  let works = false;
  for (const secret of secrets) {
    await ask({ operation: 'authenticate', secret, mistaken: 'resource' });
    works = (await use(secret)).status === 200 || works;
  }
  for (const mistaken of ['verifier', 'resource'] as const) {
    await ask({ operation: 'convert', mistaken });
  }
  await ask({ operation: 'convert' });
  await ask({ operation: 'convert', wire: 'form' });
  if (works) return;
  // Whoever lost the answer with the secret asks for another.
  const { id, secret } = await ask({ operation: 'recover' });
  if (secret !== undefined) await use({ grant: grant.name, id, secret });
}

interface Entry {
  grant_id: string;
  revoked: boolean;
  created_at: string;
}

async function listGrants(
  url: string,
  application_ids: readonly string[],
): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  for (const application_id of application_ids) {
    let cursor: string | null = null;
    do {
      const page: { data: Entry[]; next_cursor: string | null } = await succeed(
        { url },
        'admin.grants.list',
        { application_id, limit: 100, ...(cursor !== null && { cursor }) },
        operator,
      );
      for (const entry of page.data) entries.set(entry.grant_id, entry);
      cursor = page.next_cursor;
    } while (cursor !== null);
  }
  return entries;
}
