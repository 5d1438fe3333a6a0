import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

// A host service: the accounts are its own, and Latchkey sends browsers to its sign-in page.

/** The account that everybody who signs in here has. */
export const ADA = {
  id: '0193aa00-0000-7000-8000-0000000000a1',
  username: 'ada',
  display_name: 'Ada Lovelace',
};

const page = (link: string) => `<!doctype html>
<title>Sign in</title>
<form method="post">
  <input type="hidden" name="link" value="${link}">
  <button name="then" value="identify">Sign in</button>
  <button name="then" value="approve">Sign in and allow</button>
  <button name="then" value="deny">Cancel</button>
</form>
`;

export interface Host {
  /** Its sign-in page, for SIGN_IN_URL. */
  readonly signInUrl: string;
  close(): Promise<void>;
}

/**
 * Starts the host.
 *
 * @param call - calls `/admin/links/…` of Latchkey
 */
export async function startHost(
  call: (operation: string, body: object) => Promise<{ redirect_to: string }>,
): Promise<Host> {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') {
      const { searchParams } = new URL(request.url ?? '', 'http://host');
      // Letters, digits and underscores: see the format of credentials.
      const link = searchParams.get('link')?.replace(/\W/g, '') ?? '';
      response.writeHead(200, { 'Content-Type': 'text/html; charset=UTF-8' }).end(page(link));
      return;
    }
    const form = new URLSearchParams(await text(request));
    const then = form.get('then') ?? '';
    const who = then === 'deny' ? {} : { account_id: ADA.id };
    try {
      const { redirect_to } = await call(then, { link: form.get('link'), ...who });
      response.writeHead(303, { Location: redirect_to }).end();
    } catch (error) {
      response.writeHead(500).end(`${error}`);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    signInUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sign-in`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
