import { isIP, SocketAddress } from 'node:net';

/** An IPv6 address counts by its /64: networks assign no smaller range to a customer. */
export function addressKey(address: string | undefined): string {
  const [bare = ''] = (address ?? '').split('%'); // a link-local address may have a zone
  const plain = isIP(bare) === 0 ? SocketAddress.parse(bare)?.address : bare;
  if (plain === undefined) return 'unknown';
  if (isIP(plain) === 4) return plain;
  const groups = groupsOf(plain);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

function groupsOf(address: string): string[] {
  // URL normalizes an address to its shortest form in hexadecimal (RFC 5952).
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = shortest
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
