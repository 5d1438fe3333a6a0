import { describe, expect, test } from 'vitest';
import { sqliteDatabase } from '../http/databases.ts';
import { useServer } from '../http/running-server.ts';
import {
  authorize,
  CALLBACK,
  LINKING,
  linkingApplication,
  PUBLIC_URL,
} from '../linking/link-flow.ts';
import { openConsent, pathOf, visit } from '../linking/page-flow.ts';
import { isInstalled, type ProxyKind, proxyKinds, startProxy } from './proxy.ts';

/** Form-encoded, each of its characters has three bytes. */
const longestState = (redirect_uri: string) =>
  '/'.repeat((2_700 - redirect_uri.length - 2 * encodeURIComponent(PUBLIC_URL).length) / 3);

const suite = (kind: ProxyKind) => () => {
  const server = useServer(sqliteDatabase, LINKING);

  // nginx has room for the headers of a response in one `proxy_buffer_size`, by default 4 KiB: with a `state`
  // of 2,048 such characters, what comes after Allow would be a 502.
  test.each([
    [CALLBACK, 'allow'],
    [CALLBACK, 'deny'],
    ['com.example.app:/callback?from=latchkey', 'allow'],
    ['com.example.app:/callback?from=latchkey', 'deny'],
  ])('the longest redirect to %s goes through after %s', async (redirect_uri, decision) => {
    const proxy = await startProxy(kind, [server.url, server.url]);
    try {
      const app = await linkingApplication(proxy, { redirect_uris: [redirect_uri] });
      const state = longestState(redirect_uri);
      const page = await openConsent(proxy, app, { redirect_uri, state });
      const { path, cookie, form_token } = page;
      const decided = await visit(proxy, path, { cookie, form: { form_token, decision } });
      expect(decided.status, proxy.output()).toBe(303);
      let location = decided.headers.get('location') ?? '';
      if (location.startsWith(PUBLIC_URL)) {
        const done = await visit(proxy, pathOf(location), { cookie });
        expect(done.status, proxy.output()).toBe(200);
        location = (done.headers.get('refresh') ?? '').replace(/^0;url=/, '');
      }
      const result = decision === 'allow' ? 'code=lk_code_' : 'error=access_denied';
      expect(location).toContain(`${redirect_uri}&${result}`);
      expect(new URL(location).searchParams.get('state')).toBe(state);

      const longer = { ...app.request, redirect_uri, state: '/'.repeat(2_048) };
      const refused = await authorize(proxy, longer);
      expect([refused.status, refused.text.includes('>state_invalid</a></dd>')]).toEqual([
        400,
        true,
      ]);
    } finally {
      await proxy.stop();
    }
  });
};

for (const kind of proxyKinds) {
  if (isInstalled(kind.program)) describe(`behind ${kind.program}`, suite(kind));
  else describe.skip(`behind ${kind.program} (not run: it is not installed)`, suite(kind));
}
