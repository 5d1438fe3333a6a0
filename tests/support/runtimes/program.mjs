// An application in plain JavaScript for any runtime: links, reads and unlinks an account, causes
// errors, aborts a call, and guards a resource. Then it links an account through the browser, with a
// host. Prints the results.

/**
 * @param packages - `@latchkey/client` and its entry points, loaded as ESM or CommonJS
 * @param options - of the clients; empty if the runtime has environment variables
 * @param env - the code of the application, an address without a listener, and what the links need
 */
export async function program(packages, options, env) {
  const { client } = packages;
  const { LATCHKEY_CODE: code, NOBODY: nobody } = env;
  const latchkey = new client.Latchkey(options?.application);
  const grant = await latchkey.convert(code);
  const account = await latchkey.account(grant.grant_secret);
  async function linkAgain() {
    await latchkey.convert(code);
  }
  const again = await rejection(linkAgain());

  const controller = new AbortController();
  let request;
  const leaving = new client.Latchkey({
    ...options?.application,
    fetch: (...args) => {
      request = rejection(fetch(...args));
      controller.abort(new Error('The user left.'));
      return new Promise(() => {});
    },
  });
  const left = await rejection(leaving.account(grant.grant_secret, controller));

  const lost = new client.Latchkey({ ...options?.application, baseUrl: nobody, maxRetries: 0 });
  const unreachable = await rejection(lost.account(grant.grant_secret));
  const silent = { ...options?.application, fetch: () => new Promise(() => {}), timeoutMs: 20 };
  const late = await rejection(new client.Latchkey(silent).account(grant.grant_secret));

  const guarded = await guardWith(packages.guards, latchkey, grant.grant_secret);
  const received = await receive(packages.events);
  const { revoked } = await latchkey.revoke(grant.grant_id);
  const refused = await rejection(latchkey.account(grant.grant_secret));
  const saw = {
    linked: grant.object === 'oauth_grant' && typeof grant.request_id === 'string',
    read: account.username === grant.account.username,
    again: again instanceof client.CodeAlreadyUsedError && again.name,
    stack: /^CodeAlreadyUsedError: .*\n +at .*linkAgain/.test(again.stack),
    left: left === controller.signal.reason && left.message,
    requestLeft: (await request) !== undefined,
    unreachable: unreachable instanceof client.ConnectionError && unreachable.name,
    maybe_sent: unreachable.maybe_sent,
    late: late instanceof client.TimeoutError && late.name,
    ...guarded,
    ...received,
    unlinked: revoked,
    refused: refused instanceof client.AuthenticationError && refused.name,
    ...(await linkInBrowser(packages, latchkey, options, env)),
  };
  // biome-ignore lint/suspicious/noConsole: It is what every runtime has to print with.
  console.log(JSON.stringify(saw));
}

/** The options of the clients, for a runtime without environment variables. */
export function optionsFrom(env) {
  const { LATCHKEY_URL: baseUrl, LATCHKEY_PUBLIC_URL: publicUrl } = env;
  return {
    application: { baseUrl, publicUrl, applicationSecret: env.LATCHKEY_APPLICATION_SECRET },
    operator: { baseUrl, adminSecret: env.LATCHKEY_ADMIN_SECRET },
  };
}

/** Asks a server without a resource, and one that is a resource, which the grant is not for. */
async function guardWith(guards, latchkey, secret) {
  const resource = 'https://mcp.example/mcp';
  const authorizationServer = 'https://link.example';
  const ask = async (options) => {
    const request = new Request(resource, { headers: { authorization: `Bearer ${secret}` } });
    return guards.withGrant({ latchkey, ...options }, () => new Response())(request);
  };
  const foreign = await ask({ resource });
  const [, address] = /resource_metadata="([^"]+)"/.exec(foreign.headers.get('WWW-Authenticate'));
  const serve = guards.protectedResourceResponse({ resource, authorizationServer });
  class InvalidTokenError extends Error {}
  const verifier = guards.latchkeyVerifier({ latchkey, resource, InvalidTokenError });
  return {
    guarded: (await ask({})).status,
    foreign: foreign.status,
    metadata: (await serve(new Request(address)).json()).authorization_servers,
    verified: (await rejection(verifier.verifyAccessToken(secret))) instanceof InvalidTokenError,
  };
}

/** Receives a message, and one that was changed on the way. */
async function receive(events) {
  const key = crypto.getRandomValues(new Uint8Array(32));
  const grant_id = '0193aa00-0000-7000-8000-000000000001';
  const body = JSON.stringify({ type: 'grant.revoked', timestamp: '', data: { grant_id } });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['sign']);
  const signed = new TextEncoder().encode(`evt_1.${timestamp}.${body}`);
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', imported, signed));
  const base64 = (bytes) => btoa(String.fromCharCode(...bytes));
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${base64(signature)}`,
  };
  let handled;
  const receiver = events.fetchEvents({
    secret: `whsec_${base64(key)}`,
    on: {
      'grant.revoked': (data) => {
        handled = data.grant_id;
      },
    },
  });
  const send = async (text) => {
    const init = { method: 'POST', headers, body: text };
    return (await receiver(new Request('https://acme.example/events', init))).status;
  };
  return { received: await send(body), handled, tampered: await send(`${body} `) };
}

/** Does what the two routes of an application do, and those of the host between them. */
async function linkInBrowser(packages, latchkey, options, env) {
  const { client, linking, host } = packages;
  const redirectUri = 'http://127.0.0.1/callback';
  const admin = new packages.admin.LatchkeyAdmin(options?.operator);
  const { data } = await admin.applications.list();
  for (const { id: application_id } of data) {
    await admin.applications.update({ application_id, redirect_uris: [redirectUri] });
  }
  await admin.scopes.put({ scope: 'profile.read', title: 'Read your profile' });

  let grant;
  const { connect, callback } = linking.fetchLinking({
    latchkey,
    redirectUri,
    scope: 'profile.read',
    userOf: () => 'user-1',
    onLinked(linked) {
      grant = linked;
      return '/settings';
    },
  });
  const begun = await connect(new Request('http://127.0.0.1/connect'));
  const cookie = begun.headers.get('Set-Cookie');
  // The service is not at its public URL here.
  const location = begun.headers.get('Location').replace(env.LATCHKEY_PUBLIC_URL, env.LATCHKEY_URL);
  const asked = await fetch(location, { redirect: 'manual' });
  const signInUrl = asked.headers.get('Location');
  const link = new URL(signInUrl).searchParams.get('link');
  const account = { account_id: await host.accountIdOf(crypto.randomUUID(), '42'), username: 'bo' };
  const { handOff, decide, signOut } = host.fetchHost({
    admin,
    signInUrl: signInUrl.split('?')[0],
    accountOf: ({ headers }) => headers.has('cookie') && account,
    signInPage: (next) => `/sign-in?next=${encodeURIComponent(next)}`,
    consentPage: (shown) => `/consent?link=${shown}`,
  });
  const visit = async (route, form, headers = { cookie: 'session=bo' }) => {
    const own = { ...headers, 'Sec-Fetch-Site': 'same-origin' };
    const init = form
      ? { method: 'POST', body: new URLSearchParams(form), headers: own }
      : { headers };
    const response = await route(new Request(signInUrl, init));
    return response.headers.get('Location') ?? response.status;
  };
  const signInPage = await visit(handOff, undefined, {});
  const consentPage = await visit(handOff);
  const form = { link, account_id: account.account_id, decision: 'allow' };
  const redirect_to = await visit(decide, form);
  const endSession = () => new Response(null, { status: 204 });
  const signedOut = await visit(signOut(endSession), {});
  const ended = await callback(new Request(redirect_to, { headers: { cookie } }));
  const other = await rejection(callback(new Request(redirect_to)));
  const { active } = await latchkey.introspect(grant.grant_secret);
  await latchkey.revokeToken(grant.grant_secret);
  const decided = await rejection(admin.links.deny({ link }));
  return {
    signsIn: new URL(signInPage).searchParams.get('next') === `/sign-in?link=${link}`,
    asks: new URL(consentPage).search === `?link=${link}`,
    signedOut,
    linkedInBrowser: ended.status === 303 && ended.headers.get('Location'),
    active,
    revoked: !(await latchkey.introspect(grant.grant_secret)).active,
    other: other instanceof client.StateMismatchError && other.name,
    decided: decided instanceof client.InvalidRequestError && decided.error_code,
  };
}

async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It must reject.');
}
