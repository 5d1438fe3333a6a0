import { reasons } from '@latchkey/domain/reasons';
import { expect, test } from 'vitest';
import { describeOnAnyStore } from '../http/databases.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { useServer } from '../http/running-server.ts';
import { LINKING, linkingApplication } from './link-flow.ts';
import { linkingReasonCases } from './reason-cases.ts';
import type { LinkingReason } from './reasons.ts';

const names = Object.keys(linkingReasonCases) as LinkingReason[];

describeOnAnyStore('each reason of the linking flow', (fresh) => {
  const server = useServer(fresh, LINKING);

  test('is visible to the operator, and to nobody else', async () => {
    const refusals: [LinkingReason, string][] = [];
    const responses = new Map<string, Set<string>>();
    for (const reason of names) {
      const app = await linkingApplication(server);
      const { status, headers, text } = await linkingReasonCases[reason](server, app);
      const request_id = headers.get('x-request-id') as string;
      refusals.push([reason, request_id]);
      const location = headers.get('location') ?? '';
      expect(names.filter((name) => (text + location).includes(name))).toEqual([]);
      const { code } = reasons[reason];
      const wireBytes = `${status} ${text} ${location}`.replaceAll(request_id, 'REQUEST_ID');
      // What was sent comes back: the state, a redirect URI, the address of the page.
      const stateless = wireBytes
        .replace(/&state=[^&]*/, '')
        .replace(/<div class="notes quiet">\n<p>For the developers of.*?<\/div>/s, '')
        .replace(/href="\/base\/link\/[0-9a-f-]{36}"/, '');
      // Where a scope goes depends on who asked for it: a redirect, or the host.
      const variant = code === 'scope_unknown' ? `${code} ${status}` : code;
      responses.set(variant, (responses.get(variant) ?? new Set()).add(stateless));
    }
    const variants = [...responses].map(([which, { size }]) => [which, size]);
    expect(variants).toEqual([...responses.keys()].map((which) => [which, 1]));

    await server.service.audit.flush();
    for (const [reason, request_id] of refusals) {
      const { code: error_code, found, advice } = reasons[reason];
      expect(await refusalsOf(server.service, request_id)).toMatchObject([
        { request_id, error_code, reason, found, advice },
      ]);
    }
  });
});
