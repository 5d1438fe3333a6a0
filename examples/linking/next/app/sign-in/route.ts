import { randomUUID } from 'node:crypto';
import { USER } from '../../linking';

/** In your application, users sign in. Here, each browser that comes here is a user. */
export const POST = () =>
  new Response(null, {
    status: 303,
    headers: {
      Location: '/',
      // With Lax, no other site can submit the forms of this one on behalf of the user.
      'Set-Cookie': `${USER}=${randomUUID()}; Path=/; HttpOnly; SameSite=Lax`,
    },
  });
