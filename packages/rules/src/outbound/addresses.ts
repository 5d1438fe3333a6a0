import { BlockList, isIPv4 } from 'node:net';

function listOf(subnets: string): BlockList {
  const list = new BlockList();
  for (const subnet of subnets.trim().split(/\s+/)) {
    const [address = '', prefix] = subnet.split('/');
    list.addSubnet(address, Number(prefix), isIPv4(address) ? 'ipv4' : 'ipv6');
  }
  return list;
}

const contains = (list: BlockList, address: string) =>
  list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

// IANA's two special-purpose registries (RFC 6890, with the blocks that later RFCs added), less the
// blocks below that are globally reachable; multicast; and fec0::/10, which fc00::/7 replaced (RFC 3879).
const special = listOf(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24
  224.0.0.0/4 240.0.0.0/4
  ::/128 ::1/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 3fff::/20
  5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
`);

/** Parts of the blocks above. */
const reachable = listOf(`
  192.0.0.9/32 192.0.0.10/32
  2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:3::/32 2001:4:112::/48 2001:20::/28 2001:30::/28
`);

/** Loopback, private, unique-local and shared addresses. */
const privates = listOf(`
  127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 ::1/128 fc00::/7
`);

/** The metadata of clouds, at addresses that are private or, in Azure, public. */
const metadata = listOf('168.63.129.16/32 100.100.100.200/32 fd00:ec2::254/128');

/**
 * Whether the service may connect to an address that a stranger's name resolved to. Of an IPv6 address
 * that stands for IPv4 ones, these decide.
 */
export function isAddressAllowed(
  address: string,
  { allowPrivate }: { allowPrivate: boolean },
): boolean {
  // A link-local address may have a zone.
  const [plain = ''] = address.split('%');
  return within(plain).every((one) => {
    if (contains(metadata, one)) return false;
    if (allowPrivate && contains(privates, one)) return true;
    return !contains(special, one) || contains(reachable, one);
  });
}

function within(address: string): string[] {
  if (isIPv4(address)) return [address];
  const groups = groupsOf(address);
  const ipv4At = (index: number, mask = 0) =>
    [groups[index] ?? 0, groups[index + 1] ?? 0]
      .map((group) => group ^ mask)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  switch (true) {
    case startsWith(groups, 0x2002): // 6to4
      return [ipv4At(1)];
    case startsWith(groups, 0x2001, 0): // Teredo: the server, and the client in inverted bits
      return [ipv4At(2), ipv4At(6, 0xffff)];
    case startsWith(groups, 0x64, 0xff9b, 0, 0, 0, 0): // NAT64
    case startsWith(groups, 0, 0, 0, 0, 0, 0xffff): // IPv4-mapped
    case startsWith(groups, 0, 0, 0, 0, 0xffff, 0): // IPv4-translated
      return [ipv4At(6)];
    case startsWith(groups, 0, 0, 0, 0, 0, 0) && groups[6] !== 0: // IPv4-compatible, but :: and ::1
      return [ipv4At(6)];
    default:
      return [address];
  }
}

const startsWith = (groups: readonly number[], ...start: number[]) =>
  start.every((group, index) => groups[index] === group);

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  // Writes a dotted end in hexadecimal.
  const { hostname } = new URL(`http://[${address}]`);
  const [start = [], end = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').flatMap((group) => (group === '' ? [] : Number(`0x${group}`))));
  return [...start, ...new Array(8 - start.length - end.length).fill(0), ...end];
}
