import { isAddress, isAddressOf, isWrittenPlainly } from './address.ts';

/** Whose documents are taken: the setting CLIENT_DOCUMENTS. */
export interface DocumentHosts {
  /** Whether a document at this address is taken. */
  has(address: string): boolean;
  /** Whether it is let in by its address or its host, not only as one of many. */
  names(address: string): boolean;
  /** Whether a `!` keeps it out. */
  excludes(address: string): boolean;
  /** Those that it lets in by their whole address. */
  readonly addresses: readonly string[];
}

export const hasTwoLabels = (host: string) => host.includes('.') && !isAddress(host);

/** Null for what is no list of hosts and addresses. */
export function parseDocumentHosts(text: string): DocumentHosts | null {
  let any = false;
  const included = createPatterns();
  const excluded = createPatterns();
  for (const item of text.split(',')) {
    if (item === 'any') any = true;
    else if (!(item.startsWith('!') ? excluded.add(item.slice(1)) : included.add(item)))
      return null;
  }
  const excludes = (address: string) => excluded.match(address, new URL(address).hostname);
  return {
    excludes,
    has(address) {
      const host = new URL(address).hostname;
      if (excludes(address)) return false;
      return included.match(address, host) || (any && hasTwoLabels(host));
    },
    names: (address) => included.names(address, new URL(address).hostname) && !excludes(address),
    addresses: included.addresses().filter((address) => !excludes(address)),
  };
}

function createPatterns() {
  /** Hosts, and whole addresses. */
  const exact = new Set<string>();
  /** With the dot before them. */
  const parents: string[] = [];
  const names = (address: string, host: string) => exact.has(address) || exact.has(host);
  return {
    names,
    addresses: () => [...exact].filter((item) => item.startsWith('https://')),
    add(item: string): boolean {
      if (item.startsWith('https://')) {
        exact.add(item);
        return isAddressOf(item, { allowPrivate: true });
      }
      const isParent = item.startsWith('*.');
      const host = isParent ? item.slice(2) : item;
      if (!isWrittenPlainly(host)) return false;
      if (!hasTwoLabels(host) && (isParent || !(isAddress(host) || host === 'localhost')))
        return false;
      if (isParent) parents.push(`.${host}`);
      else exact.add(host);
      return true;
    },
    match: (address: string, host: string) =>
      names(address, host) || parents.some((parent) => host.endsWith(parent)),
  };
}
