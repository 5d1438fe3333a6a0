import type { Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { Initiator } from '@latchkey/domain/initiator';
import { mintSecret } from '@latchkey/rules/applications/mint-secret';
import { MAX_LIVE_SECRETS } from '@latchkey/rules/applications/secrets';
import { issueCode } from '@latchkey/rules/grants/issue-code';
import type { Service } from '@latchkey/rules/service';
import { formatTimestamp } from '@latchkey/schema';
import { plainApplication } from '@latchkey/store/plain-application';
import type { SecretRecord } from '@latchkey/store/records';
import { demoAccounts, demoScope } from './demo-records.ts';

const DAY = 24 * 60 * 60 * 1000;

// Fixed ids, so that demos share their applications. A demo never removes a working secret. With
// five secrets each, twenty applications allow a hundred demos a day.
const DEMO_APPLICATIONS = Array.from(
  { length: 20 },
  (_, index) => `0193aa00-0000-7000-8000-00000000${(0xde30 + index).toString(16)}`,
);
export interface Demo {
  applicationSecret: string;
  secret_expires_at: string;
  code: string;
  grant_id: string;
  expires_at: string;
}

export async function createDemo(service: Service): Promise<Demo> {
  await service.store.putAccount(demoAccounts.ada);
  const { application_id, secret, credential } = await demoSecret(service);
  const request = { application_id, account_id: demoAccounts.ada.id, scope: demoScope.scope };
  const initiator: Initiator = {
    request_id: newId(service.clock()),
    by: 'command_line',
    secret_id: null,
  };
  const { code, pending } = await issueCode(service, request, initiator);
  return {
    applicationSecret: credential,
    secret_expires_at: formatTimestamp(secret.expires_at),
    code,
    grant_id: pending.grant_id,
    expires_at: formatTimestamp(pending.code_expires_at),
  };
}

async function demoSecret({ store, clock }: Service) {
  const now = clock();
  const expires_at = now + DAY;
  for (const [index, application_id] of DEMO_APPLICATIONS.entries()) {
    const { record, credential } = mintSecret(application_id, now, expires_at);
    const made = { application_id, secret: { ...record, expires_at }, credential };
    const application = await store.findApplication(application_id);
    if (application === null) {
      await store.createApplication({
        ...plainApplication,
        id: application_id,
        name: index === 0 ? 'Demo' : `Demo ${index + 1}`,
        created_at: now,
        secrets: [record],
        challenge_required: true,
      });
      return made;
    }
    if (application.disabled) continue;
    for (const secret of application.secrets) {
      if (!isLive(secret, now)) await store.removeSecret(application_id, secret.id);
    }
    const limit = { most: MAX_LIVE_SECRETS, now };
    if ((await store.addSecret(application_id, record, limit)) === 'added') return made;
  }
  throw new Error(
    'The demo applications have no room for another secret: each is disabled or has five that work. Enable one (latchkey app enable), or remove a secret that you do not use (latchkey app get, latchkey app secret revoke).',
  );
}

export async function findLiveDemoSecret({ store, clock }: Service) {
  const now = clock();
  for (const id of DEMO_APPLICATIONS) {
    const application = await store.findApplication(id);
    // They are created in this order.
    if (application === null) return null;
    const secret = application.secrets.find((candidate) => isLive(candidate, now));
    if (!application.disabled && secret !== undefined) {
      const { expires_at } = secret;
      return {
        application_id: id,
        secret_id: secret.id,
        expires_at: expires_at === null ? null : formatTimestamp(expires_at),
      };
    }
  }
  return null;
}

const isLive = ({ expires_at }: SecretRecord, now: Milliseconds) =>
  expires_at === null || expires_at > now;

export function demoText(
  { applicationSecret, secret_expires_at, code, grant_id, expires_at }: Demo,
  url: string,
): string {
  const call = (path: string, body: object) => `curl -sS -w '\\n' ${url}${path} \\
  -H 'Authorization: Bearer ${applicationSecret}' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body)}'`;
  return `Convert the code into a grant (once, and before ${expires_at}):

${call('/oauth/convert', { code })}

Then revoke the grant:

${call('/oauth/revoke', { grant_id })}

The application secret (lk_app_…) works until ${secret_expires_at}.
`;
}
