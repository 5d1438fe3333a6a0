/** A mistake in the sources, and the test file that has to see it. */
export interface Mistake {
  /** What the service or the SDK would do wrong. */
  name: string;
  /** From the root of the repository. */
  file: string;
  /** Occurs once in the file. */
  from: string;
  to: string;
  /** A test file that `npm test` runs. */
  seenBy: string;
}

const CODES = 'packages/store/src/operations/codes.ts';
const GRANTS = 'packages/store/src/operations/grants.ts';
const AUTHENTICATE_GRANT = 'packages/rules/src/grants/authenticate-grant.ts';
const AUTHENTICATE_APPLICATION = 'packages/rules/src/applications/authenticate-application.ts';
const AUTHENTICATE_KEY = 'packages/rules/src/keys/authenticate-key.ts';
const AUTHORIZATION_REQUEST = 'packages/rules/src/linking/authorization-request.ts';
const PAGE_SESSION = 'packages/rules/src/linking/page-session.ts';
const ASSERTION = 'packages/rules/src/client-documents/assertion.ts';
const GUARD = 'packages/client/src/guards/require-grant.ts';
const CALL = 'apps/server/src/operations/call.ts';

/** One for each promise that a caller, a user or an operator relies on. */
export const mistakes: readonly Mistake[] = [
  {
    name: 'a code is redeemed twice',
    file: CODES,
    from: `                created_at: null,
                code_expires_at: moreThan(code.now),
`,
    to: '',
    seenBy: 'apps/server/test/http/codes.test.ts',
  },
  {
    name: 'a code is redeemed by another application',
    file: CODES,
    from: '            application_id: code.application_id,\n',
    to: '',
    seenBy: 'apps/server/test/http/codes.test.ts',
  },
  {
    name: 'a code is redeemed without its PKCE verifier',
    file: CODES,
    from: '            code_challenge: code.code_challenge,\n',
    to: '',
    seenBy: 'apps/server/test/http/token.test.ts',
  },
  {
    name: 'a code is redeemed with another redirect URI',
    file: CODES,
    from: '          when(code.redirect_uri, { redirect_uri: oneOf([code.redirect_uri, null]) }),\n',
    to: '',
    seenBy: 'apps/server/test/http/token.test.ts',
  },
  {
    name: 'a code is redeemed for another resource',
    file: CODES,
    from: '          when(code.resources, { resource: oneOf(code.resources) }),\n',
    to: '',
    seenBy: 'apps/server/test/linking/resources.test.ts',
  },
  {
    name: 'a code outlives the disabling of its application',
    file: CODES,
    from: '            generation: atLeast(code.disabled_generation),\n',
    to: '',
    seenBy: 'apps/server/test/http/applications.test.ts',
  },
  {
    name: 'a revoked grant is accepted from a cache',
    file: AUTHENTICATE_GRANT,
    from: `  const found = await store.authenticateGrant(grant_id, options);
`,
    to: `  const cache = (globalThis as unknown as { cache?: Map<string, never> });
  cache.cache ??= new Map();
  const found = cache.cache.get(credential) ?? (await store.authenticateGrant(grant_id, options));
  if (found?.first_used_at) cache.cache.set(credential, found as never);
`,
    seenBy: 'apps/server/test/http/grants.test.ts',
  },
  {
    name: 'the secret of a grant is not compared',
    file: AUTHENTICATE_GRANT,
    from: '  if (!sameHash(found.secret_hash, hashCredential(credential))) {',
    to: '  if (false) {',
    seenBy: 'apps/server/test/http/errors.test.ts',
  },
  {
    name: 'the grants of a disabled application work',
    file: AUTHENTICATE_GRANT,
    from: "  if (found.application_disabled) throw refusal('application_disabled', found);\n",
    to: '',
    seenBy: 'apps/server/test/http/applications.test.ts',
  },
  {
    name: 'an unused grant works after its days',
    file: AUTHENTICATE_GRANT,
    from: "  if (isIdle(found, clock())) throw refusal('grant_idle', found);\n",
    to: '',
    seenBy: 'apps/server/test/http/idle-grants.test.ts',
  },
  {
    name: 'a grant for a resource opens the account',
    file: AUTHENTICATE_GRANT,
    from: '  if (options.currentAccount && found.grant.resource !== null) {',
    to: '  if (false) {',
    seenBy: 'apps/server/test/linking/resources.test.ts',
  },
  {
    name: 'a guard takes a grant for another resource',
    file: GUARD,
    from: '    if ((grant.resource ?? null) !== resource) throw refuse.mismatched();\n',
    to: '',
    seenBy: 'packages/client/src/guards/require-grant.test.ts',
  },
  {
    name: 'a guard takes a grant without the scope',
    file: GUARD,
    from: '    if (!tokens.every((token) => held.includes(token))) throw refuse.insufficient(held);\n',
    to: '',
    seenBy: 'packages/client/src/guards/require-grant.test.ts',
  },
  {
    name: 'a grant has what the user has not checked',
    file: 'packages/rules/src/linking/decide.ts',
    from: '  return [scope, ...optional.filter((token) => checked.includes(token))].join',
    to: '  return [scope, ...optional].join',
    seenBy: 'apps/server/test/linking/optional-scope.test.ts',
  },
  {
    name: 'an application introspects the grants of another',
    file: 'packages/rules/src/grants/introspect.ts',
    from: '    if (!isOwn && !application.resource_server) return null;\n',
    to: '',
    seenBy: 'apps/server/test/http/introspection.test.ts',
  },
  {
    name: 'an application revokes the grants of another',
    file: GRANTS,
    from: '              when(grant.application_id, { application_id: grant.application_id }),\n',
    to: '',
    seenBy: 'apps/server/test/http/grants.test.ts',
  },
  {
    name: 'a token of another application is revoked in silence',
    file: 'packages/rules/src/grants/revoke-token.ts',
    from: '  if (found.grant.application_id !== application_id) {',
    to: '  if (false) {',
    seenBy: 'apps/server/test/http/token-revocation.test.ts',
  },
  {
    name: 'an event is lost',
    file: 'packages/store/src/operations/events.ts',
    from: '      await insert(made.slice(from, from + INSERTED_AT_ONCE));\n',
    to: '',
    seenBy: 'apps/server/test/events/delivery.test.ts',
  },
  {
    name: 'the signature of an event leaves out its time',
    file: 'packages/rules/src/events/message.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    from: 'const signed = `${id}.${timestamp}.${body}`;',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of the source
    to: 'const signed = `${id}.0.${body}`;',
    seenBy: 'packages/rules/src/events/message.test.ts',
  },
  {
    name: 'a public application links without PKCE',
    file: AUTHORIZATION_REQUEST,
    from: "    if (application.public) throw refuse('challenge_of_public_application');\n",
    to: '',
    seenBy: 'apps/server/test/linking/authorize.test.ts',
  },
  {
    name: 'a PKCE challenge may be plain',
    file: AUTHORIZATION_REQUEST,
    from: "  if (method !== 'S256') throw invalid('code_challenge_method', 'Must be S256.');\n",
    to: '',
    seenBy: 'apps/server/test/linking/authorize.test.ts',
  },
  {
    name: 'a redirect URI is compared by its prefix',
    file: 'packages/rules/src/linking/match-redirect-uri.ts',
    from: '  if (given === registered) return true;',
    to: '  if (given.startsWith(registered)) return true;',
    seenBy: 'packages/rules/src/linking/match-redirect-uri.property.test.ts',
  },
  {
    name: 'the answer with a code does not name its issuer',
    file: 'packages/rules/src/linking/redirect.ts',
    from: '{ code, state, iss: publicUrl }',
    to: '{ code, state }',
    seenBy: 'apps/server/test/linking/links.test.ts',
  },
  {
    name: 'a superseded link request is decided',
    file: 'packages/rules/src/linking/link-access.ts',
    from: '  if (!sameHash(link.link_hash, link_hash)) {',
    to: '  if (false) {',
    seenBy: 'apps/server/test/linking/links.test.ts',
  },
  {
    name: 'the ticket of a page is not compared',
    file: PAGE_SESSION,
    from: "  if (!sameHash(page.ticket_hash, ticket_hash)) throw refuse('page_ticket_wrong', address, page);\n",
    to: '',
    seenBy: 'apps/server/test/linking/reasons.test.ts',
  },
  {
    name: 'the session of a page is not compared',
    file: PAGE_SESSION,
    from: '  if (!holdsSession(page, hashCredential(session))) {',
    to: '  if (false) {',
    seenBy: 'apps/server/test/linking/reasons.test.ts',
  },
  {
    name: 'the token of a form is not compared',
    file: 'apps/server/src/http/linking/read-answer.ts',
    from: '  if (others.length > 0 || !isOwn) {',
    to: '  if (others.length > 0) {',
    seenBy: 'apps/server/test/linking/consent.test.ts',
  },
  {
    name: 'a form of another site is taken',
    file: 'apps/server/src/http/form.ts',
    from: "  if (site !== undefined && site !== 'same-origin') {",
    to: '  if (false) {',
    seenBy: 'apps/server/test/linking/consent.test.ts',
  },
  {
    name: 'scripts read the cookie of a page',
    file: 'apps/server/src/http/linking/page-cookies.ts',
    from: 'HttpOnly; SameSite=Lax',
    to: 'SameSite=Lax',
    seenBy: 'apps/server/test/linking/consent.test.ts',
  },
  {
    name: 'a page may be framed',
    file: 'apps/server/src/http/linking/page-sender.ts',
    from: '      "frame-ancestors \'none\'",\n',
    to: '',
    seenBy: 'apps/server/test/linking/consent.test.ts',
  },
  {
    name: 'text on a page is markup',
    file: 'apps/server/src/http/html.ts',
    from: '  return escapeHtml(String(value));',
    to: '  return String(value);',
    seenBy: 'apps/server/src/http/linking/views/views.test.ts',
  },
  {
    name: 'the secret of an application is not compared',
    file: AUTHENTICATE_APPLICATION,
    from: 'application.secrets.find((candidate) => isTextOf(candidate.hash, hash))',
    to: 'application.secrets.find(() => true)',
    seenBy: 'apps/server/test/http/errors.test.ts',
  },
  {
    name: 'an expired secret of an application works',
    file: AUTHENTICATE_APPLICATION,
    from: "  if (!isLive(secret, now)) throw refuse('secret_expired');\n",
    to: '',
    seenBy: 'apps/server/test/http/errors.test.ts',
  },
  {
    name: 'an assertion for another server authenticates a client',
    file: ASSERTION,
    from: '    [aud].flat().some((one) => audiences.includes(one)) &&\n',
    to: '',
    seenBy: 'packages/rules/src/client-documents/assertion.test.ts',
  },
  {
    name: 'a key has the rights of every role',
    file: CALL,
    from: '      if (key !== null && !requested.roles?.includes(key.role)) {',
    to: '      if (false) {',
    seenBy: 'apps/server/test/http/keys.test.ts',
  },
  {
    name: 'an expired key works',
    file: AUTHENTICATE_KEY,
    from: "  if (!isLive(key, now)) throw refuse('key_expired');\n",
    to: '',
    seenBy: 'apps/server/test/http/keys.test.ts',
  },
  {
    name: 'a call is in no record of the audit',
    file: CALL,
    from: '    if (isAudited) service.audit.done(record);\n',
    to: '',
    seenBy: 'apps/server/test/http/audit.test.ts',
  },
  {
    name: 'the calls of an application have no limit',
    file: 'apps/server/src/operations/call-limits.ts',
    from: "  if (key !== null) limits[counts === 'exchanges' ? 'requests' : counts].count(key);\n",
    to: '',
    seenBy: 'apps/server/test/http/rate-limits.test.ts',
  },
  {
    name: 'failed authentications have no limit',
    file: 'apps/server/src/http/authenticate.ts',
    from: '  if (FAILED.has(error.code)) failures.count(addressKey(address));\n',
    to: '',
    seenBy: 'apps/server/test/http/rate-limits.test.ts',
  },
  {
    name: 'a secret is logged',
    file: 'packages/rules/src/log/redactor.ts',
    from: '    if (text.includes(ANY_PREFIX)) clean = clean.replace(credentialPattern, REDACTED);\n',
    to: '',
    seenBy: 'packages/rules/src/log/log.test.ts',
  },
  {
    name: 'a response with a secret may be cached',
    file: 'apps/server/src/http/response.ts',
    from: "    'Cache-Control': 'no-store',\n",
    to: '',
    seenBy: 'apps/server/test/http/headers.test.ts',
  },
  {
    name: 'an endpoint may be at the metadata of a cloud',
    file: 'packages/rules/src/outbound/addresses.ts',
    from: '    if (contains(metadata, one)) return false;\n',
    to: '',
    seenBy: 'packages/rules/src/outbound/addresses.test.ts',
  },
  {
    name: 'a 503 of a proxy is taken for a promise that nothing was done',
    file: 'packages/client/src/retry.ts',
    from: 'return status < 300 || status >= 500;',
    to: 'return status < 300 || (status >= 500 && status !== 503);',
    seenBy: 'packages/client/src/recover-lost-answer.test.ts',
  },
  {
    name: 'costly certificates are shown one after the other',
    file: 'packages/rules/src/outbound/send.ts',
    from: '    await sleep(REST_AFTER_HANDSHAKE * spent, undefined, { signal }).catch(() => {});\n',
    to: '',
    seenBy: 'apps/server/test/outbound/request.test.ts',
  },
];
