import { type LinkRequest, uris } from '@latchkey/schema';

/** The host, or the scheme of a native application. The port may be invalid, such as 99999. */
export function describeRedirect(
  redirect_uri: string,
): Pick<LinkRequest, 'redirect_host' | 'redirect_kind'> {
  const parts = uris.splitUri(redirect_uri);
  if (parts === null) throw new Error('The redirect URI of a link request is not a URI.');
  const { scheme, host } = parts;
  if (host === null || !/^https?$/.test(scheme)) {
    return { redirect_host: scheme, redirect_kind: 'app' };
  }
  return { redirect_host: host, redirect_kind: uris.isLoopback(parts) ? 'loopback' : 'web' };
}
