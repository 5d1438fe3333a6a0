import { AuthenticationError, CodeExpiredError, type Latchkey } from '@latchkey/client';

/** Links the account whose user came back with this code; null where the user took too long. */
export async function link(latchkey: Latchkey, code: string) {
  try {
    const { grant_id, grant_secret } = await latchkey.convert(code, { recoverLostAnswer: true });
    return { grant_id, grant_secret };
  } catch (error) {
    if (error instanceof CodeExpiredError) return null;
    throw error;
  }
}

/** The name to greet with; null where the account is not linked any more. */
export async function nameOf(latchkey: Latchkey, { grant_secret }: { grant_secret: string }) {
  try {
    return (await latchkey.account(grant_secret)).display_name;
  } catch (error) {
    if (error instanceof AuthenticationError) return null;
    throw error;
  }
}
