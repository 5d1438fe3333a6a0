import { isLoopback, splitUri } from './uri-parts.ts';

// Every JavaScript runtime has it (WHATWG URL).
declare const URL: { canParse(text: string): boolean };

export const MAX_RESOURCE_LENGTH = 500;

const defaultPorts = new Map([
  ['http', 80],
  ['https', 443],
]);

// URL parsers read `%2e` as a dot.
const isDots = (segment: string) => /^(?:\.|%2e){1,2}$/i.test(segment);

/**
 * The address of a resource in the form in which it is stored and compared: without a default port and
 * a slash at the end, scheme and host in lower case.
 *
 * @returns null for what can be no resource
 */
export function resourceAddress(text: string): string | null {
  if (text.length > MAX_RESOURCE_LENGTH || !URL.canParse(text)) return null;
  const parts = splitUri(text);
  if (parts === null || parts.host === null) return null;
  const { scheme, host, port, path, query, fragment } = parts;
  if (scheme !== 'https' && !isLoopback(parts)) return null;
  if (port === '' || query !== undefined || fragment !== undefined) return null;
  const trimmed = path.replace(/\/$/, '');
  const [, ...segments] = trimmed.split('/');
  if (segments.some((segment) => segment === '' || isDots(segment))) return null;
  const isDefault = port === undefined || Number(port) === defaultPorts.get(scheme);
  return `${scheme}://${host}${isDefault ? '' : `:${port}`}${trimmed}`;
}
