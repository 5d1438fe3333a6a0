import type { Caller } from '@latchkey/schema';

interface SecurityScheme {
  caller: Caller;
  type: 'http';
  scheme: 'bearer' | 'basic';
  description: string;
}

/** How each caller authenticates: the security schemes of OpenAPI, by name. */
export const securitySchemes: Record<string, SecurityScheme> = {
  applicationSecret: {
    caller: 'application',
    type: 'http',
    scheme: 'bearer',
    description: 'A secret of the application, `lk_app_…`.',
  },
  grantSecret: {
    caller: 'grant',
    type: 'http',
    scheme: 'bearer',
    description: 'The secret of a grant, `lk_grant_…`.',
  },
  grantIdAndSecret: {
    caller: 'grant',
    type: 'http',
    scheme: 'basic',
    description: 'The id of a grant as the user name and its secret as the password.',
  },
  adminSecret: {
    caller: 'operator',
    type: 'http',
    scheme: 'bearer',
    description: 'The `ADMIN_SECRET` of the service.',
  },
};
