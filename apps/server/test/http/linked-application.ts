import { randomUUID } from 'node:crypto';
import type { FullGrant, IssuedCode } from '@latchkey/schema';
import { succeed } from './call.ts';
import { operator } from './running-server.ts';

/** An application, and an account that it gets grants for. */
export interface LinkedApplication {
  application_id: string;
  /** Empty if it is public, as are the next two. */
  secret: string;
  secret_id: string;
  /** The value of the Authorization header. */
  bearer: string;
  account_id: string;
  issue(binding?: {
    redirect_uri?: string;
    code_challenge?: string;
    resource?: string;
  }): Promise<IssuedCode>;
  convert(code: string): Promise<FullGrant>;
  /** Issues a code and converts it. */
  link(): Promise<FullGrant>;
}

export const ADA = {
  username: 'ada',
  display_name: 'Ada Lovelace',
  twitter: 'adal',
  verified: true,
  supporter: false,
};

/** @param registration - what it registers besides its name */
export async function linkedApplication(
  server: { url: string },
  registration: { public?: boolean; resource_server?: boolean } = {},
): Promise<LinkedApplication> {
  const application = await succeed(
    server,
    'admin.applications.create',
    { name: 'Acme', ...registration },
    operator,
  );
  const account_id = randomUUID();
  await succeed(server, 'admin.accounts.put', { account_id, ...ADA }, operator);
  const { secret = '', secrets } = application;
  const bearer = secret === '' ? '' : `Bearer ${secret}`;
  const application_id: string = application.id;
  const issue = (binding = {}) =>
    succeed(
      server,
      'admin.codes.issue',
      { application_id, account_id, scope: 'profile.read email', ...binding },
      operator,
    );
  const convert = (code: string) => succeed(server, 'grants.convert', { code }, bearer);
  return {
    application_id,
    secret,
    secret_id: secrets[0]?.id ?? '',
    bearer,
    account_id,
    issue,
    convert,
    link: async () => convert((await issue()).code),
  };
}

/** The two ways in which a grant authenticates. */
export const asBearer = ({ grant_secret }: FullGrant): string => `Bearer ${grant_secret}`;
export const asBasic = ({ grant_id, grant_secret }: FullGrant): string =>
  `Basic ${Buffer.from(`${grant_id}:${grant_secret}`).toString('base64')}`;
