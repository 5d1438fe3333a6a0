import { type Finding, ok, skipped, warning } from '@latchkey/store/finding';
import type { Settings } from '../settings.ts';

const MAX_WAIT_MS = 5_000;

/** How the public reaches the service, seen from this machine. */
export async function* checkPublicAddress(
  publicUrl: string,
  { adminSecret, adminPort }: Pick<Settings, 'adminSecret' | 'adminPort'>,
): AsyncGenerator<Finding> {
  const admin = `${publicUrl}/admin/applications`;
  const [metadata, operators] = await Promise.all([
    respond('GET', `${publicUrl}/.well-known/oauth-authorization-server`),
    // No operation has this method, so the service counts no refusal.
    respond('PUT', admin),
  ]);
  if (operators?.status === 405) {
    yield warning('admin', `${admin} is there for everybody who reaches PUBLIC_URL.`, CLOSE);
  } else if (adminSecret === null) {
    yield ok('admin', 'There are no routes of the operator: ADMIN_SECRET is not set.');
  } else if (operators !== null) {
    yield ok('admin', `${admin} is not there: the response is ${operators.status}.`);
  } else if (adminPort !== null) {
    yield ok('admin', `The routes of the operator are on port ${adminPort} alone.`);
  } else {
    yield warning('admin', 'The routes of the operator are on the port of everybody.', CLOSE);
  }
  if (metadata === null) {
    yield skipped(
      'public_url',
      `${publicUrl} does not respond here.`,
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

const CLOSE = 'Set ADMIN_PORT, or let the proxy refuse /admin and /trpc/admin.';

/** Null if there is no response. */
async function respond(method: string, url: string): Promise<Response | null> {
  try {
    const signal = AbortSignal.timeout(MAX_WAIT_MS);
    const response = await fetch(url, { method, redirect: 'manual', signal });
    await response.body?.cancel();
    return response;
  } catch {
    return null;
  }
}
