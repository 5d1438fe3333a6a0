import type { NextRequest } from 'next/server';
import { shared, USER } from '../../linking';

export async function POST(request: NextRequest) {
  const { latchkey, links } = shared();
  const user = request.cookies.get(USER)?.value ?? '';
  const link = links.get(user);
  if (link) await latchkey.revoke(link.grant_id);
  links.delete(user);
  return new Response(null, { status: 303, headers: { Location: '/' } });
}
