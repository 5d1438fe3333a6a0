import { isIPv4 } from 'node:net';
import { describe, expect, test } from 'vitest';
import { isAddressAllowed } from './addresses.ts';

const decisions = (address: string) =>
  [false, true].map((allowPrivate) => isAddressAllowed(address, { allowPrivate }));

const REFUSED = [false, false];
const PRIVATE = [false, true];
const ALLOWED = [true, true];

// Each row of IANA's registries, with what decides about it: whether it is globally reachable there.
// 2002::/16, 2001::/32 and 64:ff9b::/96 are below, because the address inside decides.
const registry: [block: string, rfc: string, expected: boolean[]][] = [
  ['0.0.0.0/8', '791', REFUSED],
  ['0.0.0.0/32', '1122', REFUSED],
  ['10.0.0.0/8', '1918', PRIVATE],
  ['100.64.0.0/10', '6598', PRIVATE],
  ['127.0.0.0/8', '1122', PRIVATE],
  ['169.254.0.0/16', '3927', REFUSED],
  ['172.16.0.0/12', '1918', PRIVATE],
  ['192.0.0.0/24', '6890', REFUSED],
  ['192.0.0.0/29', '7335', REFUSED],
  ['192.0.0.8/32', '7600', REFUSED],
  ['192.0.0.9/32', '7723', ALLOWED],
  ['192.0.0.10/32', '8155', ALLOWED],
  ['192.0.0.170/32', '8880', REFUSED],
  ['192.0.0.171/32', '8880', REFUSED],
  ['192.0.2.0/24', '5737', REFUSED],
  ['192.31.196.0/24', '7535', ALLOWED],
  ['192.52.193.0/24', '7450', ALLOWED],
  ['192.88.99.0/24', '7526', REFUSED],
  ['192.168.0.0/16', '1918', PRIVATE],
  ['192.175.48.0/24', '7534', ALLOWED],
  ['198.18.0.0/15', '2544', REFUSED],
  ['198.51.100.0/24', '5737', REFUSED],
  ['203.0.113.0/24', '5737', REFUSED],
  ['240.0.0.0/4', '1112', REFUSED],
  ['255.255.255.255/32', '8190', REFUSED],
  ['::1/128', '4291', PRIVATE],
  ['::/128', '4291', REFUSED],
  ['64:ff9b:1::/48', '8215', REFUSED],
  ['100::/64', '6666', REFUSED],
  ['100:0:0:1::/64', '9780', REFUSED],
  ['2001:1::/32', '2928', REFUSED],
  ['2001:1::1/128', '7723', ALLOWED],
  ['2001:1::2/128', '8155', ALLOWED],
  ['2001:1::3/128', '9665', ALLOWED],
  ['2001:2::/48', '5180', REFUSED],
  ['2001:3::/32', '7450', ALLOWED],
  ['2001:4:112::/48', '7535', ALLOWED],
  ['2001:10::/28', '4843', REFUSED],
  ['2001:20::/28', '7343', ALLOWED],
  ['2001:30::/28', '9374', ALLOWED],
  ['2001:1ff::/32', '2928', REFUSED],
  ['2001:db8::/32', '3849', REFUSED],
  ['2620:4f:8000::/48', '7534', ALLOWED],
  ['3fff::/20', '9637', REFUSED],
  ['5f00::/16', '9602', REFUSED],
  ['fc00::/7', '4193', PRIVATE],
  ['fe80::/10', '4291', REFUSED],
  // Not in the registries.
  ['224.0.0.0/4', '5771', REFUSED],
  ['ff00::/8', '4291', REFUSED],
  ['fec0::/10', '3879', REFUSED],
  ['8.8.8.0/24', 'none', ALLOWED],
  ['172.32.0.0/11', 'none', ALLOWED],
  ['2606:4700::/32', 'none', ALLOWED],
];

test.each(registry)('the first and the last address of %s (RFC %s)', (block, _, expected) => {
  for (const address of endsOf(block))
    expect([address, decisions(address)]).toEqual([address, expected]);
});

const metadata = [
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  '169.254.169.254',
  'fe80::a9fe:a9fe%1',
];

test.each(metadata)('%s is refused, whatever is let in', (address) => {
  expect(decisions(address)).toEqual(REFUSED);
});

const inverted = (address: string) =>
  address
    .split('.')
    .map((byte) => 255 - Number(byte))
    .join('.');

/** A form of IPv6 for an IPv4 address. The last two have a hexadecimal end. */
const forms: Record<string, (address: string) => string> = {
  mapped: (address) => `::ffff:${address}`,
  compatible: (address) => `::${address}`,
  translated: (address) => `::ffff:0:${address}`,
  NAT64: (address) => `64:ff9b::${address}`,
  '6to4': (address) => `2002:${hexOf(address)}::1`,
  'Teredo, of the client': (address) =>
    `2001:0:${hexOf('8.8.8.8')}:0:0:${hexOf(inverted(address))}`,
  'Teredo, of the server': (address) =>
    `2001:0:${hexOf(address)}:0:0:${hexOf(inverted('8.8.8.8'))}`,
};

describe.each(Object.entries(forms))('the IPv4 address inside decides: %s', (_, form) => {
  test.each([
    ['127.0.0.1', PRIVATE],
    ['10.1.2.3', PRIVATE],
    ['169.254.169.254', REFUSED],
    ['168.63.129.16', REFUSED],
    ['100.100.100.200', REFUSED],
    ['255.255.255.255', REFUSED],
    ['8.8.8.8', ALLOWED],
  ])('%s', (address, expected) => expect(decisions(form(address))).toEqual(expected));
});

function hexOf(address: string): string {
  return (Buffer.from(address.split('.').map(Number)).toString('hex').match(/.{4}/g) ?? []).join(
    ':',
  );
}

function endsOf(block: string): string[] {
  const [first = '', prefix] = block.split('/');
  if (isIPv4(first)) {
    const number = Buffer.from(first.split('.').map(Number)).readUInt32BE();
    const last = number + 2 ** (32 - Number(prefix)) - 1;
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(last);
    return [first, bytes.join('.')];
  }
  const [start = '', end = ''] = first.split('::');
  const groups = (part: string) => part.split(':').filter(Boolean);
  const hex = [
    ...groups(start),
    ...new Array(8 - groups(start).length - groups(end).length).fill('0'),
    ...groups(end),
  ];
  const number = BigInt(`0x${hex.map((group) => group.padStart(4, '0')).join('')}`);
  const last = number | ((1n << BigInt(128 - Number(prefix))) - 1n);
  return [first, (last.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':')];
}
