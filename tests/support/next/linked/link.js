import { AuthenticationError, Latchkey } from '@latchkey/client';

const latchkey = new Latchkey();

/** Says whether the account is linked, as the service knows it now. */
export async function linkOf() {
  try {
    const { username } = await latchkey.account(process.env.GRANT_SECRET);
    return `linked as ${username}`;
  } catch (error) {
    if (error instanceof AuthenticationError) return 'not linked';
    throw error;
  }
}
