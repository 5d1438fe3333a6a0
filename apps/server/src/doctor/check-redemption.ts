import { newId } from '@latchkey/domain/credentials/credentials';
import { DomainError, tell } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import {
  createApplication,
  type NewApplication,
} from '@latchkey/rules/applications/create-application';
import { findActiveGrant } from '@latchkey/rules/grants/authenticate-grant';
import { issueCode } from '@latchkey/rules/grants/issue-code';
import { redeem } from '@latchkey/rules/grants/redeem';
import { revoke } from '@latchkey/rules/grants/revoke';
import type { Service } from '@latchkey/rules/service';
import { type Finding, ok, problem, warning } from '@latchkey/store/finding';
import { plainApplication } from '@latchkey/store/plain-application';

/** Its grant never works, not even if this is interrupted: its application is disabled before. */
export async function* checkRedemption(service: Service): AsyncGenerator<Finding> {
  const { store, clock } = service;
  const initiator: Initiator = { request_id: newId(clock()), by: 'command_line', secret_id: null };
  const account_id = newId(clock());
  let application_id: string | null = null;
  let grant_id: string | null = null;
  try {
    const began = performance.now();
    const { application } = await createApplication(service, APPLICATION);
    application_id = application.id;
    const disabled = await store.setApplicationDisabled(application_id, true, clock());
    if (disabled === null) throw new DomainError('application_not_found');
    await store.putAccount({ id: account_id, ...NOBODY });
    const request = { application_id, account_id, scope: 'latchkey.doctor' };
    const { code, pending } = await issueCode(service, request, initiator);
    grant_id = pending.grant_id;
    const { grant_secret } = await redeem(service, disabled, { code }, initiator);
    const repeated = await errorOf(redeem(service, disabled, { code }, initiator));
    await revoke(service, application_id, grant_id, initiator);
    const anyGrant = { grant_id: null, currentAccount: false };
    const used = await errorOf(findActiveGrant(service, grant_secret, anyGrant));
    yield findingOf({ repeated, used, milliseconds: Math.ceil(performance.now() - began) });
  } catch (error) {
    yield problem('convert', `A code could not be converted and revoked: ${tell(error)}`, LOOK);
  }
  if (application_id === null) return;
  try {
    await store.removeTrial({ application_id, account_id, grant_id });
  } catch (error) {
    yield warning(
      'convert',
      `The test account or application could not be removed: ${tell(error)}`,
      `Run latchkey account erase ${account_id} and latchkey app delete ${application_id}.`,
    );
  }
}

interface Outcomes {
  /** The error of the second conversion, and of the use after the revocation. */
  repeated: string | null;
  used: string | null;
  milliseconds: number;
}

/** An election, for instance, makes a call fail, and proves nothing. */
function findingOf({ repeated, used, milliseconds }: Outcomes): Finding {
  if (repeated === null) return problem('convert', 'A code was converted twice.', STOP);
  // Only the secret of an active grant is told that its application is disabled.
  if (used === null || used === 'application_disabled') {
    return problem('convert', 'A revoked grant still works.', STOP);
  }
  if (repeated !== 'code_already_used') {
    const found = `A code was converted; the second try failed: ${repeated}.`;
    return warning('convert', found, `${AGAIN} whether the code works twice was not found out.`);
  }
  if (used !== 'credentials_invalid') {
    const found = `A grant was revoked; the use of it failed: ${used}.`;
    return warning('convert', found, `${AGAIN} whether the grant still works was not found out.`);
  }
  return ok('convert', `A code was converted once, and its grant revoked: ${milliseconds} ms.`);
}

const APPLICATION: NewApplication = {
  ...plainApplication,
  name: 'latchkey doctor',
  scopes: [],
  challenge_required: true,
};

const NOBODY = {
  username: 'latchkey-doctor',
  display_name: 'latchkey doctor',
  twitter: null,
  verified: false,
  supporter: false,
};

const STOP = 'Stop the service, and report it.';
const AGAIN = 'Run latchkey doctor again:';
export const LOOK = 'Look at the other findings first. If they are fine, report it.';

async function errorOf(call: Promise<unknown>): Promise<string | null> {
  try {
    await call;
    return null;
  } catch (error) {
    return DomainError.from(error).code;
  }
}
