import { fileURLToPath } from 'node:url';
import { startGoServer } from '../go.ts';
import type { Peer } from '../peer.ts';

/** go-oauth2, on the token store in a file that it ships. */
export const startGoOAuth2 = (): Promise<Peer> =>
  startGoServer(fileURLToPath(new URL('.', import.meta.url)), 'github.com/go-oauth2/oauth2/v4');
