import { type Finding, ok, skipped, warning } from '@latchkey/store/finding';
import type { Settings } from '../settings.ts';

const MAX_WAIT_MS = 5_000;

/** How the public reaches the service, seen from this machine. */
export async function* checkPublicAddress(
  publicUrl: string,
  { adminSecret, adminPort }: Pick<Settings, 'adminSecret' | 'adminPort'>,
): AsyncGenerator<Finding> {
  const admin = `${publicUrl}/admin/applications`;
  // A rule of a proxy for /trpc/admin lets it pass.
  const batch = `${publicUrl}/trpc/account.get,%61dmin.applications.list?batch=1`;
  const [metadata, alone, batched] = await Promise.all([
    respond('GET', `${publicUrl}/.well-known/oauth-authorization-server`),
    // No operation has this method, so the service counts no refusal.
    respond('PUT', admin),
    respond('PUT', batch),
  ]);
  const status = typeof alone === 'string' ? null : alone.status;
  const open = isServed(alone) ? admin : isServed(batched) ? batch : null;
  if (open !== null) {
    yield warning('admin', `${open} is there for everybody who reaches PUBLIC_URL.`, CLOSE);
  } else if (adminSecret === null) {
    yield ok('admin', 'There are no routes of the operator: ADMIN_SECRET is not set.');
  } else if (status !== null) {
    yield ok('admin', `${admin} is not there: the response is ${status}.`);
  } else if (adminPort !== null) {
    yield ok('admin', `The routes of the operator are on port ${adminPort} alone.`);
  } else {
    yield warning('admin', 'The routes of the operator are on the port of everybody.', CLOSE);
  }
  if (typeof metadata === 'string') {
    yield skipped(
      'public_url',
      `${publicUrl} does not respond here: ${metadata}.`,
      'If the service runs, open it from where users are.',
    );
  } else if (metadata.headers.has('strict-transport-security')) {
    yield ok('public_url', `${publicUrl} responds with Strict-Transport-Security.`);
  } else {
    yield warning(
      'public_url',
      `${publicUrl} responds without Strict-Transport-Security, so a browser may be sent there in clear.`,
      'Let the proxy send it: docs/operations/proxy.md.',
    );
  }
}

const CLOSE = 'Set ADMIN_PORT: a rule of the proxy for /admin and /trpc/admin misses batches.';

/** Another service at this address may have no PUT either. */
const isServed = (received: Received | string) =>
  typeof received !== 'string' &&
  received.status === 405 &&
  received.text.includes('"error_code":"method_not_allowed"');

interface Received {
  status: number;
  headers: Headers;
  text: string;
}

/** The response of the service, or why there is none. */
async function respond(method: string, url: string): Promise<Received | string> {
  try {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    const response = await fetch(url, { method, redirect: 'manual', signal });
    const { status, headers } = response;
    const text = await beginningOf(response);
    // A proxy says so of a service that does not run.
    return status < 500 ? { status, headers, text } : `the response is ${status}`;
  } catch (error) {
    const { cause = error } = error as Error;
    const { code, message } = cause as NodeJS.ErrnoException;
    return typeof code === 'string' ? code : message;
  }
}

/** Enough for an error of the service. Something else at this address may send without an end. */
const MOST_READ = 10_000;

async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MOST_READ) break;
  }
  return text;
}
