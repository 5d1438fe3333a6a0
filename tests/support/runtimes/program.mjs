// An application in plain JavaScript for any runtime: links, reads and unlinks an account, causes
// errors, and aborts a call. Prints the results.

/**
 * @param client - the package `@latchkey/client`, loaded as ESM or CommonJS
 * @param options - of the client; empty if the runtime has environment variables
 * @param code - a code of the application
 * @param nobody - an address without a listener
 */
export async function program(client, options, code, nobody) {
  const latchkey = new client.Latchkey(options);
  const grant = await latchkey.convert(code);
  const account = await latchkey.account(grant.grant_secret);
  async function linkAgain() {
    await latchkey.convert(code);
  }
  const again = await rejection(linkAgain());

  const controller = new AbortController();
  let request;
  const leaving = new client.Latchkey({
    ...options,
    fetch: (...args) => {
      request = rejection(fetch(...args));
      controller.abort(new Error('The user left.'));
      return new Promise(() => {});
    },
  });
  const left = await rejection(leaving.account(grant.grant_secret, controller));

  const lost = new client.Latchkey({ ...options, baseUrl: nobody, maxRetries: 0 });
  const unreachable = await rejection(lost.account(grant.grant_secret));
  const silent = { ...options, fetch: () => new Promise(() => {}), timeoutMs: 20 };
  const late = await rejection(new client.Latchkey(silent).account(grant.grant_secret));

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
    unlinked: revoked,
    refused: refused instanceof client.AuthenticationError && refused.name,
  };
  // biome-ignore lint/suspicious/noConsole: It is what every runtime has to print with.
  console.log(JSON.stringify(saw));
}

async function rejection(promise) {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It must reject.');
}
