import { AuthenticationError, CodeExpiredError, type Latchkey } from '@latchkey/client';

/** Links the account of the user who returned with this code. Null if the code has expired. */
export async function link(latchkey: Latchkey, code: string) {
  try {
    const { grant_id, grant_secret } = await latchkey.convert(code, { recoverLostAnswer: true });
    return { grant_id, grant_secret };
  } catch (error) {
    if (error instanceof CodeExpiredError) return null;
    throw error;
  }
}

/** The name to greet the user with; null if the account is no longer linked. */
export async function nameOf(latchkey: Latchkey, { grant_secret }: { grant_secret: string }) {
  try {
    return (await latchkey.account(grant_secret)).display_name;
  } catch (error) {
    if (error instanceof AuthenticationError) return null;
    throw error;
  }
}
