import {
  type ErrorCode,
  errorDefinition,
  inputs,
  type OperationContract,
  objects,
  operations,
} from '@latchkey/schema';
import { z } from 'zod';
import { exampleOf } from './examples.ts';

// `/link` and `/connections` are for people, and have no place here.

export const FORM = 'application/x-www-form-urlencoded';

/** A form can have the credentials of the client in it (RFC 6749, section 2.3.1). */
export function withCredentials<Body extends { schema: { properties: object } }>(body: Body): Body {
  const credentials = {
    // Without a format: a parameter without a value counts as left out.
    client_id: { type: 'string', description: 'The id of the application.' },
    client_secret: {
      type: 'string',
      description: 'A secret of the application, unless it is in the Authorization header.',
    },
  };
  const { schema } = body;
  return {
    ...body,
    schema: { ...schema, properties: { ...schema.properties, ...credentials } },
  };
}

const grantType = z.literal('authorization_code').meta({ description: 'The only one there is.' });
const { errors: convertErrors } = operations['grants.convert'];

export const tokenContract: OperationContract = {
  method: 'POST',
  path: '/oauth/token',
  caller: 'application',
  takesForm: true,
  summary: 'Convert a code, in the words of OAuth',
  description:
    'The token endpoint (RFC 6749, section 3.2). It does what `POST /oauth/convert` does. The `access_token` is the secret of the grant.',
  input: inputs.codeInput.extend({ grant_type: grantType }),
  output: objects.tokenResponse,
  errors: [...convertErrors, 'grant_type_unsupported'],
};

const { input: asked } = exampleOf('links.begin');

const parameter = (name: string, required: boolean, description: string, schema: object) => ({
  name,
  in: 'query',
  required,
  description,
  schema: { type: 'string', ...schema },
  ...(name in asked && { example: asked[name] }),
});

const header = (description: string) => ({ description, schema: { type: 'string' } });

function pageOf(codes: readonly ErrorCode[]) {
  return {
    description: codes.map((code) => `\`${code}\`: ${errorDefinition(code).title}.`).join(' '),
    headers: {
      'X-Request-Id': header('Identifies the request in the log of the service.'),
      ...(codes.some((code) => errorDefinition(code).retryAfter !== undefined) && {
        'Retry-After': header('Seconds to wait before trying again.'),
      }),
    },
    content: { 'text/html': { schema: { type: 'string' } } },
  };
}

export const authorization = {
  operationId: 'links.begin',
  summary: 'Ask a user to link an account',
  description:
    'The authorization endpoint (RFC 6749, section 3.1), for browsers. Redirects to the sign-in page of the host. An error of the application goes back to it in the redirect. An error that could send the browser to an untrusted address is shown on a page. Exists only if `SIGN_IN_URL` is set.',
  tags: ['Linking'],
  security: [],
  parameters: [
    parameter('response_type', true, 'The only one there is.', { enum: ['code'] }),
    parameter('client_id', true, 'The id of the application, or the address that it has.', {}),
    parameter(
      'redirect_uri',
      false,
      'Exactly a registered one; only the port of a loopback address may differ. Default: the only one.',
      {},
    ),
    parameter('scope', false, 'Separated by spaces. Default: as the operator has set.', {}),
    parameter('resource', false, 'The address of the server that the grant is for (RFC 8707).', {
      format: 'uri',
    }),
    parameter('optional_scope', false, 'What the user can allow besides, separated by spaces.', {}),
    parameter('state', false, 'Comes back in the response. Required without a code challenge.', {
      maxLength: 2_048,
    }),
    parameter(
      'code_challenge',
      false,
      'BASE64URL(SHA-256(code_verifier)), RFC 7636. Required for public applications.',
      { pattern: '^[A-Za-z0-9_-]{43}$' },
    ),
    parameter('code_challenge_method', false, 'Required with a code challenge.', {
      enum: ['S256'],
    }),
    parameter('response_mode', false, 'The only one there is.', { enum: ['query'] }),
    parameter('login_hint', false, 'What is known of the user.', { maxLength: 200 }),
    parameter('ui_locales', false, 'Languages, separated by spaces.', { maxLength: 100 }),
  ],
  responses: {
    303: {
      description:
        'To the sign-in page with a `link`, or to the redirect URI with `error`, `error_description`, `error_code`, `error_uri`, `request_id`, `state` and `iss`.',
      headers: {
        Location: header('Where the browser goes.'),
        'X-Request-Id': header('Identifies the request in the log of the service.'),
      },
    },
    400: pageOf([
      'client_unknown',
      'client_document_invalid',
      'redirect_uri_unregistered',
      'state_invalid',
      // Where nobody vouches for the redirect URI, those of a redirect too.
      'parameter_invalid',
      'response_type_unsupported',
      'challenge_required',
      'target_unknown',
      'scope_unknown',
    ]),
    429: pageOf(['rate_limited']),
    500: pageOf(['internal_error']),
    503: pageOf([
      'client_document_unavailable',
      'prefetch_refused',
      'store_unavailable',
      'store_full',
      'outcome_unknown',
    ]),
  },
};

const inJson = (...codes: ErrorCode[]) => ({
  description: codes.map((code) => `\`${code}\`: ${errorDefinition(code).title}.`).join(' '),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
});

const metadata = (operationId: string, summary: string, source: string) => ({
  operationId,
  summary,
  description: `${source}. Only there if \`SIGN_IN_URL\` is set.`,
  tags: ['Linking'],
  security: [],
  parameters: [],
  responses: {
    200: {
      description: 'The metadata.',
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    404: inJson('route_not_found'),
    503: inJson('store_unavailable'),
  },
});

export const metadataPaths = {
  '/.well-known/oauth-authorization-server': {
    get: metadata(
      'metadata.server',
      'Get the metadata of the authorization server',
      'RFC 8414, section 3',
    ),
  },
  '/.well-known/oauth-protected-resource/v1': {
    get: metadata('metadata.resource', 'Get the metadata of /v1', 'RFC 9728, section 3'),
  },
};

/** RFC 7591, sections 2 and 3.2.1. */
const registered = {
  client_id:
    'https://latchkey.example/oauth/clients/eyJjbGllbnRfbmFtZSI6IkN1cnNvciIsInJlZGlyZWN0X3VyaXMiOlsiaHR0cDovL2xvY2FsaG9zdC9jYWxsYmFjayJdfQ',
  client_name: 'Cursor',
  redirect_uris: ['http://localhost/callback'],
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};
const { client_id: _, token_endpoint_auth_method: __, ...registration } = registered;

const client = {
  description: 'The client.',
  headers: { 'X-Request-Id': header('Identifies the request in the log of the service.') },
  content: {
    'application/json': {
      schema: { $ref: '#/components/schemas/RegisteredClient' },
      example: registered,
    },
  },
};

const ofClients = {
  tags: ['Linking'],
  security: [],
  description:
    'Nothing is kept of the client: its `client_id` is an address that has all that it says. Only there if `CLIENT_REGISTRATION` is set.',
};

export const registrationPaths = {
  '/oauth/register': {
    post: {
      ...ofClients,
      operationId: 'clients.register',
      summary: 'Register a client (RFC 7591)',
      parameters: [],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: bodyOf(inputs.registrationInput),
            example: registration,
          },
        },
      },
      responses: {
        201: client,
        400: inJson('registration_invalid', 'registration_redirect_refused', 'body_malformed'),
        404: inJson('route_not_found'),
        413: inJson('body_too_large'),
        415: inJson('media_type_unsupported'),
        500: inJson('internal_error'),
      },
    },
  },
  '/oauth/clients/{document}': {
    get: {
      ...ofClients,
      operationId: 'clients.get',
      summary: 'Get a client that registered itself',
      parameters: [
        {
          ...{ name: 'document', in: 'path', required: true, schema: { type: 'string' } },
          description: 'The last segment of the `client_id`.',
          example: registered.client_id.split('/').at(-1),
        },
      ],
      responses: {
        200: client,
        404: inJson('route_not_found'),
        500: inJson('internal_error'),
      },
    },
  },
};

function bodyOf(input: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  return schema;
}
