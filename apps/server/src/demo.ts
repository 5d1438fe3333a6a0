import { formatTimestamp } from '@latchkey/schema';
import { mintSecret } from './applications/mint-secret.ts';
import { MAX_LIVE_SECRETS } from './applications/secrets.ts';
import { newId } from './credentials/credentials.ts';
import { issueCode } from './grants/issue-code.ts';
import type { Origin } from './origin.ts';
import type { Service } from './service.ts';

// Fixed ids, so that every demo is with the same application and account and none pile up.
const DEMO_APPLICATION = '0193aa00-0000-7000-8000-00000000de30';
const DEMO_ACCOUNT = {
  id: '0193aa00-0000-7000-8000-00000000acc0',
  username: 'ada',
  display_name: 'Ada Lovelace',
  twitter: null,
  verified: true,
  supporter: false,
};

/** What a demo needs to be shown: a secret and a code that work with each other. */
export interface Demo {
  applicationSecret: string;
  code: string;
  grant_id: string;
  expires_at: string;
}

/** Makes a demo application and account where they are missing, a new secret, and a fresh code. */
export async function createDemo(service: Service): Promise<Demo> {
  await service.store.putAccount(DEMO_ACCOUNT);
  const applicationSecret = await demoSecret(service);
  const request = {
    application_id: DEMO_APPLICATION,
    account_id: DEMO_ACCOUNT.id,
    scope: 'profile.read',
  };
  const origin: Origin = {
    request_id: newId(service.clock()),
    by: 'command_line',
    secret_id: null,
  };
  const { code, pending } = await issueCode(service, request, origin);
  const expires_at = formatTimestamp(pending.code_expires_at);
  return { applicationSecret, code, grant_id: pending.grant_id, expires_at };
}

async function demoSecret({ store, clock }: Service): Promise<string> {
  const now = clock();
  const { record, credential } = mintSecret(DEMO_APPLICATION, now, null);
  const application = await store.findApplication(DEMO_APPLICATION);
  if (application === null) {
    await store.createApplication({
      id: DEMO_APPLICATION,
      name: 'Demo',
      disabled: false,
      created_at: now,
      secrets: [record],
    });
    return credential;
  }
  // A secret is stored as its hash, so an old one can't be shown again: the oldest makes room.
  const [oldest] = application.secrets;
  if (application.secrets.length >= MAX_LIVE_SECRETS && oldest !== undefined) {
    await store.removeSecret(DEMO_APPLICATION, oldest.id);
  }
  await store.addSecret(DEMO_APPLICATION, record, { most: MAX_LIVE_SECRETS, now });
  return credential;
}

/** Two calls to paste: the exchange of the code, and the end of the grant. */
export function demoText(
  { applicationSecret, code, grant_id, expires_at }: Demo,
  url: string,
): string {
  const call = (path: string, body: object) => `curl -sS ${url}${path} \\
  -H 'Authorization: Bearer ${applicationSecret}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
  return `Exchange the code for a grant (until ${expires_at}, and once):

${call('/oauth/convert', { code })}

Then revoke the grant:

${call('/oauth/revoke', { grant_id })}
`;
}
