// Latchkey refuses a MongoDB older than 7.0, and the tests can download only 6.0. In a process that
// loads this file, the `hello` of a 6.0 reports the wire version of 7.0. The driver's own handshake is
// not changed. The product has no such switch, so nobody can set it in production.
import { Db, type Document } from 'mongodb';

const wireVersionOf6 = 17;
const wireVersionOf7 = 21;

const command = Db.prototype.command;

Db.prototype.command = async function (this: Db, ...words: Parameters<typeof command>) {
  const reply: Document = await command.apply(this, words);
  // The tests of the refusal use scripted servers, which name no set.
  const isOlder = reply.maxWireVersion === wireVersionOf6 && reply.setName !== undefined;
  return isOlder ? { ...reply, maxWireVersion: wireVersionOf7 } : reply;
};
