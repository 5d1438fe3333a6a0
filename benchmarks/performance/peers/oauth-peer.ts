import { Hosts } from '../../../packages/race/src/hosts.ts';
import { Browser } from '../../../packages/race/src/http/browser.ts';
import { authorizationRequest, REDIRECT_URI } from '../../peers/oauth-client.ts';
import type { Peer } from '../../peers/peer.ts';
import type { MeasuredServer } from '../contender.ts';
import { ProcessTree } from '../process-tree.ts';
import { codeWithVerifier, oauthWire } from '../wires/oauth.ts';

/** How many users log in for the codes of a turn. */
const BROWSERS = 4;

/** A server in processes of its own, as a load takes it. They are pinned to the core of the servers. */
export async function asMeasured(peer: Peer): Promise<MeasuredServer> {
  if (peer.pid === undefined) throw new Error('The server runs in this process.');
  const process = new ProcessTree([peer.pid]);
  await process.pin();
  const { href, pathname } = new URL(peer.token);
  return {
    process,
    url: new URL(href),
    wire: oauthWire(peer.application, { token: pathname }),
    async issue(count) {
      const codes: string[] = [];
      let left = count;
      async function work() {
        const hosts = new Hosts([]);
        const browser = new Browser({ redirectUri: REDIRECT_URI, hosts, timeout: 60_000 });
        for (let isLoggedIn = false; left > 0; isLoggedIn = true) {
          left--;
          const { query, verifier } = authorizationRequest(peer.application, peer.scope);
          const url = `${peer.authorization}?${query}`;
          const back = isLoggedIn ? await browser.open(url) : await peer.login(url, browser);
          const code = new URL(back).searchParams.get('code');
          if (code === null) throw new Error(`No code at ${new URL(back).pathname}.`);
          codes.push(codeWithVerifier(code, verifier));
        }
      }
      await Promise.all(Array.from({ length: BROWSERS }, work));
      return codes;
    },
  };
}
