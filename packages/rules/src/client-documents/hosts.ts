import { isIP } from 'node:net';

/** Whose documents are taken: the setting CLIENT_DOCUMENTS. */
export interface DocumentHosts {
  has(host: string): boolean;
  /** Whether it is let in by itself, not only as one of many. */
  names(host: string): boolean;
}

/** With the brackets of an IPv6 address. */
export const isAddress = (host: string) => isIP(host.replace(/^\[|\]$/g, '')) !== 0;

/** As the URL standard writes it, without a port and with no empty label. */
export function isWrittenPlainly(host: string): boolean {
  // The standard takes more, such as an asterisk and a dot at the end.
  if (!/^[a-z0-9.:_[\]-]+$/.test(host) || host.split('.').includes('')) return false;
  return URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host;
}

const hasTwoLabels = (host: string) => host.includes('.') && !isAddress(host);

/** Null for what is no list of hosts. */
export function parseDocumentHosts(text: string): DocumentHosts | null {
  let any = false;
  const included = createPatterns();
  const excluded = createPatterns();
  for (const item of text.split(',')) {
    if (item === 'any') any = true;
    else if (!(item.startsWith('!') ? excluded.add(item.slice(1)) : included.add(item)))
      return null;
  }
  return {
    has(host) {
      if (excluded.match(host)) return false;
      return included.match(host) || (any && hasTwoLabels(host));
    },
    names: (host) => included.hosts.has(host) && !excluded.match(host),
  };
}

function createPatterns() {
  const hosts = new Set<string>();
  /** With the dot before them. */
  const parents: string[] = [];
  return {
    hosts,
    add(item: string): boolean {
      const isParent = item.startsWith('*.');
      const host = isParent ? item.slice(2) : item;
      if (!isWrittenPlainly(host)) return false;
      if (!hasTwoLabels(host) && (isParent || !(isAddress(host) || host === 'localhost')))
        return false;
      if (isParent) parents.push(`.${host}`);
      else hosts.add(host);
      return true;
    },
    match: (host: string) => hosts.has(host) || parents.some((parent) => host.endsWith(parent)),
  };
}
