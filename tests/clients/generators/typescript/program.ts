// Uses the types that openapi-typescript made: links an account, reads it, and unlinks it. Prints the
// results.

import createClient from 'openapi-fetch';
import type { paths } from './api.js';

// This project has no @types/node.
declare const process: {
  env: Record<string, string>;
  stdout: { write(text: string): void };
};

const { LATCHKEY_URL: baseUrl = '', LATCHKEY_APPLICATION_SECRET: secret = '' } = process.env;
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const client = createClient<paths>({ baseUrl });
const convert = () =>
  client.POST('/oauth/convert', {
    ...bearer(secret),
    body: { code: process.env.LATCHKEY_CODE ?? '' },
  });

const { data: grant } = await convert();
if (grant === undefined) throw new Error('There is no grant.');
const account = await client.GET('/v1/account', bearer(grant.grant_secret));
const again = await convert();
const { response } = await client.POST('/oauth/revoke', {
  ...bearer(secret),
  body: { grant_id: grant.grant_id },
});
const seen = [account.data?.username, again.error?.error_code, response.status];
process.stdout.write(JSON.stringify(seen));
