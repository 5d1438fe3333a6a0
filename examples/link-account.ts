/**
 * Links an account, uses it, and unlinks it, with the SDK.
 *
 *     npm exec -c 'node examples/link-account.ts'
 *
 * Reads LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET and LATCHKEY_CODE from the environment;
 * `bin/latchkey demo` prints a secret and a code to try it with.
 */

import {
  AuthenticationError,
  CodeAlreadyUsedError,
  CodeExpiredError,
  CodeNotFoundError,
  Latchkey,
  LatchkeyError,
} from '@latchkey/client';

/** A link as an application stores it in its own database. Encrypt the secret there. */
interface Link {
  grant_id: string;
  grant_secret: string;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function link(latchkey: Latchkey, code: string): Promise<Link> {
  const grant = await latchkey.convert(code, { recoverLostAnswer: true });
  const { grant_id, grant_secret, account, scope } = grant;
  say(`Linked ${account.username} for ${scope}`);
  return { grant_id, grant_secret };
}

async function use(latchkey: Latchkey, { grant_secret }: Link): Promise<void> {
  const account = await latchkey.account(grant_secret);
  say(`The account is ${account.display_name}`);
}

async function unlink(latchkey: Latchkey, { grant_id, grant_secret }: Link): Promise<void> {
  await latchkey.revoke(grant_id);
  // Only to show it: the secret no longer works.
  const refused = await latchkey.account(grant_secret).catch((error: unknown) => error);
  if (!(refused instanceof AuthenticationError)) throw new Error('The grant still works.');
  say('Unlinked');
}

/** Tells the user who links an account what to do about an error. */
function advice(error: LatchkeyError): string {
  if (error instanceof CodeAlreadyUsedError) {
    // By another call: this one recovers a lost response. Continue with the grant of this id.
    return `This code was already used, for grant ${error.grant_id}.`;
  }
  if (error instanceof CodeExpiredError || error instanceof CodeNotFoundError) {
    return 'This code is not valid or has expired: start again.';
  }
  return error.message;
}

try {
  const { LATCHKEY_URL, LATCHKEY_APPLICATION_SECRET, LATCHKEY_CODE = '' } = process.env;
  const latchkey = new Latchkey({
    baseUrl: LATCHKEY_URL || 'http://127.0.0.1:3000',
    applicationSecret: LATCHKEY_APPLICATION_SECRET,
  });
  const linked = await link(latchkey, LATCHKEY_CODE);
  await use(latchkey, linked);
  await unlink(latchkey, linked);
} catch (error) {
  if (!(error instanceof LatchkeyError)) throw error;
  process.stderr.write(`${error.error_code ?? error.name}: ${advice(error)}\n`);
  process.exitCode = 1;
}
