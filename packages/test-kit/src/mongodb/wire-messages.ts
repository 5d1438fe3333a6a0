import { BSON, type Document } from 'mongodb';

// The part of MongoDB's wire protocol that the tests need: splitting a stream into messages, reading
// a command, writing a reply. https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/

const headerSize = 16;
const opReply = 1;
const opQuery = 2004;
const opMsg = 2013;

/** Splits the data of a connection into messages. */
export class MessageReader {
  #rest = Buffer.alloc(0);

  /** The messages that this chunk completes. */
  read(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const messages: Buffer[] = [];
    // A message begins with its length.
    while (this.#rest.length >= 4 && this.#rest.length >= this.#rest.readInt32LE(0)) {
      const message = this.#rest.subarray(0, this.#rest.readInt32LE(0));
      this.#rest = this.#rest.subarray(message.length);
      messages.push(message);
    }
    return messages;
  }
}

/** The number of a message, which its reply repeats. */
export function requestId(message: Buffer): number {
  return message.readInt32LE(4);
}

/** The number of the message that this one replies to. */
export function responseTo(message: Buffer): number {
  return message.readInt32LE(8);
}

/** The first member of a command is its name. */
export function nameOf(command: Document): string {
  return Object.keys(command)[0] as string;
}

/** The command in an OP_MSG, or in the OP_QUERY with which drivers begin. */
export function commandIn(message: Buffer): Document {
  if (message.readInt32LE(12) === opQuery) {
    const collection = message.indexOf(0, headerSize + 4);
    return BSON.deserialize(message.subarray(collection + 1 + 8));
  }
  let command: Document = {};
  for (let at = headerSize + 4; at < message.length; ) {
    const isSequence = message[at] === 1;
    const size = message.readInt32LE(at + 1);
    const section = message.subarray(at + 1, at + 1 + size);
    if (isSequence) {
      const end = section.indexOf(0, 4);
      const documents: Document[] = [];
      for (let next = end + 1; next < section.length; next += section.readInt32LE(next)) {
        documents.push(BSON.deserialize(section.subarray(next, next + section.readInt32LE(next))));
      }
      command = { ...command, [section.toString('latin1', 4, end)]: documents };
    } else {
      command = { ...BSON.deserialize(section), ...command };
    }
    at += 1 + size;
  }
  return command;
}

/** The reply to a message. */
export function replyTo(message: Buffer, reply: Document): Buffer {
  const body = Buffer.from(BSON.serialize(reply));
  const isQuery = message.readInt32LE(12) === opQuery;
  // OP_REPLY: flags, cursor id, start, count. OP_MSG: flags, kind of the one section.
  const head = Buffer.alloc(isQuery ? 20 : 5);
  if (isQuery) head.writeInt32LE(1, 16);
  const header = Buffer.alloc(headerSize);
  header.writeInt32LE(headerSize + head.length + body.length, 0);
  header.writeInt32LE(requestId(message), 8);
  header.writeInt32LE(isQuery ? opReply : opMsg, 12);
  return Buffer.concat([header, head, body]);
}

const hostsElement = Buffer.from('\x04hosts\0');

/** The answer to `hello` of a replica set's member with other addresses; any other answer as it is. */
export function withAddresses(message: Buffer, inPlaceOf: (address: string) => string): Buffer {
  if (!message.includes(hostsElement)) return message;
  const start = headerSize + (message.readInt32LE(12) === opReply ? 20 : 5);
  // Numbers keep their BSON types: the driver compares some of them as 64-bit integers.
  const reply = BSON.deserialize(message.subarray(start), { promoteValues: false });
  if (!Array.isArray(reply.hosts) || reply.me === undefined) return message;
  for (const [name, value] of Object.entries(reply)) {
    if (['hosts', 'passives', 'arbiters'].includes(name)) reply[name] = value.map(inPlaceOf);
    if (['me', 'primary'].includes(name)) reply[name] = inPlaceOf(value);
  }
  const head = Buffer.from(message.subarray(0, start));
  const body = Buffer.from(BSON.serialize(reply));
  head.writeInt32LE(head.length + body.length, 0);
  return Buffer.concat([head, body]);
}
