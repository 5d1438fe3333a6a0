import type { Caller, OperationContract } from '@latchkey/schema';

interface SecurityScheme {
  caller: Caller;
  onlyWithForm?: boolean;
  type: 'http';
  scheme: 'bearer' | 'basic';
  description: string;
}

export const securitySchemes: Record<string, SecurityScheme> = {
  // Before the secret alone: generated clients take the last scheme that they have values for.
  applicationIdAndSecret: {
    caller: 'application',
    onlyWithForm: true,
    type: 'http',
    scheme: 'basic',
    description:
      'The id of the application as the user name and a secret of it as the password (RFC 6749, section 2.3.1). A public application has an empty password.',
  },
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
    description: 'The `ADMIN_SECRET` of the service, or a key, `lk_key_…`.',
  },
};

export function securityOf({ caller, takesForm = false }: OperationContract): object[] {
  const schemes = Object.entries(securitySchemes)
    .filter(([, scheme]) => scheme.caller === caller && (takesForm || !scheme.onlyWithForm))
    .map(([name]) => ({ [name]: [] }));
  // The last one is `client_id` and `client_secret` in the form, for which OpenAPI has no scheme.
  return takesForm ? [...schemes, {}] : schemes;
}
