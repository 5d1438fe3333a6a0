import { randomBytes } from 'node:crypto';

/** Where a registered application of an OAuth server is sent back to. Nothing listens there. */
export const REDIRECT_URI = 'https://application.example/callback';

/** How an application is registered. */
export interface Registration {
  client_id: string;
  client_secret: string;
}

export function registration(client_id: string): Registration {
  return { client_id, client_secret: randomBytes(32).toString('hex') };
}
