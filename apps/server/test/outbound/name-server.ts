import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** The IPv4 addresses of a name; `alias` is one for the same name. `silence`: it never answers. */
export type Answer = readonly string[] | 'silence';

const TYPES: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' };
const NXDOMAIN = 3;

/** A name server by UDP (RFC 1035), which answers as `answerTo` says. */
export async function serveNames(
  answerTo: (name: string, type: 'A' | 'AAAA') => Answer,
  { address = '127.0.0.1', port = 0 } = {},
) {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end } = readName(query, 12);
    const type = TYPES[query.readUInt16BE(end)];
    if (type === undefined) return;
    asked.push(`${type} ${name}`);
    const answer = answerTo(name, type);
    if (answer !== 'silence') socket.send(respond(query, end + 4, answer), from.port, from.address);
  });
  socket.bind(port, address);
  await once(socket, 'listening');
  return {
    server: `${address}:${socket.address().port}`,
    /** Such as `A a.example`. */
    asked,
    close: () => socket.close(),
  };
}

function readName(message: Buffer, start: number) {
  const labels: string[] = [];
  let at = start;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function respond(query: Buffer, questionEnd: number, addresses: readonly string[]): Buffer {
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8180 | (addresses.length === 0 ? NXDOMAIN : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) =>
    // The name of the question, CNAME or A, IN, 60 s, so many bytes.
    address === 'alias'
      ? Buffer.from([0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, 12])
      : Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, query.subarray(12, questionEnd), ...records]);
}
