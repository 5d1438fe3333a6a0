import { expect, test } from 'vitest';
import { send } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { useServer } from '../http/running-server.ts';
import { authorize, LINKING, linkingApplication } from './link-flow.ts';
import { openConsent, visit } from './page-flow.ts';

describeOnAnyStore('the metrics of the linking flow', (fresh) => {
  const server = useServer(fresh, { ...LINKING, METRICS: 'on', RATE_LIMIT: 'links=2/60' });

  /** How often something was done, by action, status and error code. */
  async function counts(): Promise<Map<string, number>> {
    const { text } = await send(server, { method: 'GET', path: '/metrics' });
    const pattern =
      /latchkey_requests_total\{operation="([^"]+)",wire="rest",status="(\d+)",error_code="(\w*)"\} (\d+)/g;
    return new Map(
      [...text.matchAll(pattern)].map(([, action, status, code, count]) => [
        `${action} ${status} ${code}`.trim(),
        Number(count),
      ]),
    );
  }

  test('count each page, each redirect and each decision under its own name', async () => {
    const app = await linkingApplication(server);
    const page = await openConsent(server, app);
    const { cookie, form_token, path } = page;
    for (const decision of ['switch', 'allow', 'deny', 'perhaps']) {
      await visit(server, path, { cookie, form: { form_token, decision } });
    }
    await visit(server, path);
    await authorize(server, { ...app.request, scope: 'unknown' });
    await authorize(server, { ...app.request, client_id: 'unknown' });
    await authorize(server, app.request);
    await authorize(server, app.request);

    const done = await counts();
    const expected: Record<string, number> = {
      'links.begin 303': 2,
      'links.begin 303 scope_unknown': 1,
      'links.begin 400 client_unknown': 1,
      'links.begin 429 rate_limited': 1,
      'links.switch 303': 1,
      'admin.links.identify 200': 1,
      'admin.links.approve 303': 1,
      'admin.links.deny 409 link_decided': 1,
      // The ticket, and then the page.
      'pages.open 303': 1,
      'pages.open 200': 1,
      'pages.open 400 parameter_invalid': 1,
      'pages.open 410 page_expired': 1,
    };
    const found = Object.keys(expected).map((name) => [name, done.get(name)]);
    expect(Object.fromEntries(found)).toEqual(expected);
    const { text } = await send(server, { method: 'GET', path: '/metrics' });
    expect(text).toContain('latchkey_rate_limited_total{limit="links"} 1');
  });
});
