// Latchkey refuses a MongoDB older than 7.0; the one that the tests can download is 6.0. In a process
// that loads this file, and in no other, `hello` of a 6.0 reports 7.0's wire version to a program.
// The driver's own handshake is not changed. The product has no switch for it, so nobody can set it.
import { Db, type Document } from 'mongodb';

const wireVersionOf6 = 17;
const wireVersionOf7 = 21;

const command = Db.prototype.command;

Db.prototype.command = async function (this: Db, ...words: Parameters<typeof command>) {
  const reply: Document = await command.apply(this, words);
  // The scripted servers, which the tests of the refusal itself use, name no set.
  const isOlder = reply.maxWireVersion === wireVersionOf6 && reply.setName !== undefined;
  return isOlder ? { ...reply, maxWireVersion: wireVersionOf7 } : reply;
};
