import { errorTable } from '@latchkey/schema';

/** The link request or the callback that an address leads to. */
export type Opened = { link: string; signInUrl: string } | { callbackUrl: string };

/**
 * Follows the address that an application sends a browser to.
 *
 * @returns the link request that waits for the user, or the callback if the request was refused there
 * @throws Error if the server shows an error page, which leads nowhere
 */
export async function openLink(
  url: string | URL,
  { baseUrl, signInUrl }: { baseUrl: string; signInUrl: string },
): Promise<Opened> {
  const address = URL.canParse(`${url}`) ? new URL(url) : undefined;
  if (address?.origin !== new URL(baseUrl).origin) {
    throw new Error(
      `The address that your application sends the browser to must begin with ${baseUrl}/oauth/authorize. Create its client with \`new Latchkey(server)\`.`,
    );
  }
  const response = await fetch(address, { redirect: 'manual' });
  const location = response.headers.get('Location');
  if (location === null) throw new Error(explainPage(await response.text()));
  const target = new URL(location);
  const link = target.searchParams.get('link');
  const isSignIn = target.href.startsWith(new URL(signInUrl).href);
  return isSignIn && link !== null ? { link, signInUrl: location } : { callbackUrl: location };
}

/** Explains an error page. */
export function explainPage(page: string): string {
  if (page.includes('>redirect_uri_unregistered<')) {
    return 'The redirect URI of your application is not registered at this test server. Pass it to createTestServer({ redirectUris }). The port of a loopback address does not matter.';
  }
  const [code] = Object.entries(errorTable).find(([name]) => page.includes(`>${name}<`)) ?? [];
  const description = code && errorTable[code as keyof typeof errorTable].description;
  return `The test server shows the user an error page (${code ?? 'of unknown content'}). ${description ?? ''}`;
}
