// Uses the client that @hey-api/openapi-ts made: links an account, reads it, unlinks it, and causes
// errors. Prints the results.

import { client } from './client/client.gen.js';
import type { Auth } from './client/core/auth.gen.js';
import { accountGet, type FullGrant, grantsConvert, grantsRevoke } from './client/index.js';

// This project has no @types/node.
declare const process: {
  env: Record<string, string>;
  stdout: { write(text: string): void };
};

const {
  LATCHKEY_URL: baseUrl = '',
  LATCHKEY_APPLICATION_SECRET: secret = '',
  LATCHKEY_CODE: code = '',
} = process.env;
client.setConfig({ baseUrl });

const converted = await grantsConvert({ auth: secret, body: { code } });
if (converted.error) throw new Error(converted.error.error_description);
const grant: FullGrant = converted.data;

// Routes of a grant accept Bearer or Basic. This client sends the last one that it has credentials for.
const auth = ({ scheme }: Auth) => (scheme === 'bearer' ? grant.grant_secret : undefined);
const account = await accountGet({ auth });
const again = await grantsConvert({ auth: secret, body: { code } });
const malformed = await grantsRevoke({ auth: secret, body: { grant_id: 'no-uuid' } });
const revoked = await grantsRevoke({ auth: secret, body: { grant_id: grant.grant_id } });
const refused = await accountGet({ auth });

const seen = {
  converted: { grant_id: grant.grant_id, username: grant.account.username },
  account: { display_name: account.data?.display_name },
  again: { error_code: again.error?.error_code, grant_id: again.error?.grant_id },
  malformed: { error_code: malformed.error?.error_code, issues: malformed.error?.issues },
  revoked: { revoked: revoked.data?.revoked },
  refused: { error_code: refused.error?.error_code },
};
const responses = { converted, account, again, malformed, revoked, refused };
for (const [name, { response }] of Object.entries(responses)) {
  Object.assign(seen[name as keyof typeof seen], { status: response?.status });
}
process.stdout.write(JSON.stringify(seen));
