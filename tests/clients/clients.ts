/** Who checks a part of the callback. */
type Checker = 'library' | 'application';

/** An OAuth library, and what it is seen to do in the program that uses it. */
export interface Client {
  /** As its registry has it. */
  library: string;
  language: 'javascript' | 'python' | 'go';
  /** Below `examples/oauth-clients`. */
  program: string;
  /** Whether Python runs the program itself. Otherwise, Flask does. */
  isScript?: true;
  /** Where the browser comes back to. */
  callbackPath: string;
  /** Whether it reads the endpoints from the metadata of the issuer, or is given them. */
  endpoints: 'metadata' | 'settings';
  /** Where the secret is at `/oauth/token`: in the header, in the form, or there is none. */
  authentication: 'basic' | 'post' | 'none';
  /** Who makes the challenge of PKCE. */
  pkce: Checker;
  state: Checker;
  issuer: Checker;
  introspects: boolean;
  revokes: boolean;
  /** The wrong settings that it does not print Latchkey's text for. */
  hides?: readonly string[];
}

const usual = {
  language: 'javascript',
  callbackPath: '/callback',
  authentication: 'basic',
  pkce: 'library',
  state: 'library',
} as const;

/** The table of `docs/guides/oauth-clients.md`. */
export const clients: readonly Client[] = [
  {
    ...usual,
    library: 'openid-client',
    program: 'javascript/openid-client.ts',
    endpoints: 'metadata',
    issuer: 'library',
    introspects: true,
    revokes: true,
    // It prints the challenge of a 401, and not the body.
    hides: ['body type'],
  },
  {
    ...usual,
    library: 'oauth4webapi',
    program: 'javascript/oauth4webapi.ts',
    endpoints: 'metadata',
    issuer: 'library',
    introspects: true,
    revokes: true,
    // It prints the challenge of a 401, and not the body.
    hides: ['body type'],
  },
  {
    ...usual,
    library: 'simple-oauth2',
    program: 'javascript/simple-oauth2.ts',
    endpoints: 'settings',
    pkce: 'application',
    state: 'application',
    issuer: 'application',
    introspects: false,
    revokes: true,
  },
  {
    ...usual,
    library: 'passport-oauth2',
    program: 'javascript/passport-oauth2.ts',
    authentication: 'post',
    endpoints: 'settings',
    issuer: 'application',
    introspects: false,
    revokes: false,
  },
  {
    ...usual,
    library: 'arctic',
    program: 'javascript/arctic.ts',
    endpoints: 'settings',
    state: 'application',
    issuer: 'application',
    introspects: false,
    revokes: true,
    // It prints the text of a 400 and a 401.
    hides: ['method'],
  },
  {
    ...usual,
    library: '@badgateway/oauth2-client',
    program: 'javascript/badgateway.ts',
    endpoints: 'metadata',
    issuer: 'application',
    introspects: true,
    revokes: true,
  },
  {
    ...usual,
    library: '@auth/express',
    program: 'javascript/authjs.ts',
    callbackPath: '/auth/callback/latchkey',
    endpoints: 'settings',
    issuer: 'library',
    introspects: false,
    revokes: false,
    // It prints the challenge of a 401 and the word of a refusal, and no text.
    hides: ['body type', 'scope'],
  },
  {
    ...usual,
    library: 'better-auth',
    program: 'javascript/better-auth.ts',
    callbackPath: '/api/auth/callback/latchkey',
    endpoints: 'metadata',
    issuer: 'library',
    introspects: false,
    revokes: false,
  },
  {
    ...usual,
    library: '@fastify/oauth2',
    program: 'javascript/fastify-oauth2.ts',
    endpoints: 'metadata',
    issuer: 'application',
    introspects: false,
    revokes: true,
  },
  {
    ...usual,
    library: '@modelcontextprotocol/sdk',
    program: 'javascript/mcp-sdk.ts',
    endpoints: 'metadata',
    authentication: 'none',
    state: 'application',
    issuer: 'application',
    introspects: false,
    revokes: false,
  },
  {
    ...usual,
    library: 'Authlib',
    language: 'python',
    program: 'python/authlib_client.py',
    endpoints: 'metadata',
    issuer: 'application',
    introspects: true,
    revokes: true,
  },
  {
    ...usual,
    library: 'requests-oauthlib',
    language: 'python',
    program: 'python/requests_oauthlib_client.py',
    endpoints: 'settings',
    pkce: 'application',
    issuer: 'application',
    introspects: false,
    revokes: true,
  },
  {
    ...usual,
    library: 'httpx-oauth',
    language: 'python',
    program: 'python/httpx_oauth_client.py',
    endpoints: 'settings',
    pkce: 'application',
    state: 'application',
    issuer: 'application',
    introspects: false,
    revokes: true,
  },
  {
    ...usual,
    library: 'social-auth-core',
    language: 'python',
    program: 'python/social_auth_client.py',
    isScript: true,
    callbackPath: '/complete/latchkey/',
    endpoints: 'settings',
    issuer: 'application',
    introspects: false,
    revokes: false,
    // It prints the status.
    hides: ['secret', 'redirect URI', 'body type', 'method', 'verifier'],
  },
  {
    ...usual,
    library: 'golang.org/x/oauth2',
    language: 'go',
    program: 'go',
    endpoints: 'settings',
    state: 'application',
    issuer: 'application',
    introspects: false,
    revokes: false,
  },
];
