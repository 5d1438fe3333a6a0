import { isIP, SocketAddress } from 'node:net';

/**
 * What failed authentications are counted by: an IPv4 address as it is, of an IPv6 address its
 * /64, which is the least that a network gives to one customer. An IPv4 address in IPv6's clothes
 * (RFC 4291, section 2.5.5.2), as a socket for both has it, is the IPv4 address.
 *
 * @param address - as the socket or a proxy tells it, which may add a port
 */
export function addressKey(address: string | undefined): string {
  const [bare = ''] = (address ?? '').split('%'); // without the zone of a link-local address
  const plain = isIP(bare) === 0 ? SocketAddress.parse(bare)?.address : bare;
  // A proxy that tells no address: all that it tells so of share one count.
  if (plain === undefined) return 'unknown';
  if (isIP(plain) === 4) return plain;
  const groups = groupsOf(plain);
  if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
    const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  // URL writes an address in its shortest form, all in hexadecimal (RFC 5952).
  const shortest = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [before = [], after = []] = shortest
    .split('::')
    .map((part) => part.split(':').filter((group) => group !== ''));
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
