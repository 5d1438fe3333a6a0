import type { Milliseconds } from '@latchkey/domain/clock';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { CredentialHash } from '@latchkey/store/records';
import { Binary } from 'mongodb';

export function toId(uuid: string): Binary {
  return new Binary(uuidToBytes(uuid), Binary.SUBTYPE_UUID);
}

export function toHash(hash: CredentialHash): Binary {
  return new Binary(hash);
}

export function toDate(time: Milliseconds): Date {
  return new Date(time);
}

export function fromId(id: Binary): string {
  return uuidFromBytes(id.value());
}

/** Copies, since the driver's bytes are a view into the buffer of the whole response. */
export function fromHash(hash: Binary): CredentialHash {
  return Uint8Array.from(hash.value());
}
