import { isLatchkeyError } from '@latchkey/client';
import { cookies } from 'next/headers';
import { shared, USER } from '../linking';

const notices: Record<string, string> = {
  denied: 'You have not allowed it.',
  failed: 'That did not work. Connect again.',
};

interface Props {
  searchParams: Promise<{ notice?: string }>;
}

export default async function Page({ searchParams }: Props) {
  const user = (await cookies()).get(USER)?.value;
  if (user === undefined) {
    return (
      <form method="post" action="/sign-in">
        <button type="submit">Sign in</button>
      </form>
    );
  }
  const { notice = '' } = await searchParams;
  const { latchkey, links } = shared();
  const link = links.get(user);
  let text = notices[notice] ?? 'Welcome.';
  if (link) {
    try {
      const { display_name } = await latchkey.account(link.grant_secret);
      return (
        <form method="post" action="/disconnect">
          <p>{`Connected as ${display_name}`}</p>
          <button type="submit">Disconnect</button>
        </form>
      );
    } catch (error) {
      // The grant was revoked at the service.
      if (!isLatchkeyError(error) || error.name !== 'AuthenticationError') throw error;
      links.delete(user);
      text = 'Your account is no longer connected.';
    }
  }
  return (
    <>
      <p>{text}</p>
      {/* Not a <Link>: Next.js would prefetch it. */}
      <a href="/connect">Connect your account</a>
    </>
  );
}
