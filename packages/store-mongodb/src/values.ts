import type { Milliseconds } from '@latchkey/domain/clock';
import type { Initiator } from '@latchkey/domain/initiator';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';
import type { CredentialHash } from '@latchkey/store/records';
import { Binary } from 'mongodb';

type InitiatorDocument = Omit<Initiator, 'secret_id' | 'key_id'> & {
  secret_id: Binary | null;
  key_id?: Binary;
};

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

export function toInitiator(initiator: Initiator): InitiatorDocument {
  const { request_id, by, secret_id, key_id, os_user } = initiator;
  return {
    request_id,
    by,
    secret_id: secret_id === null ? null : toId(secret_id),
    ...(key_id !== undefined && { key_id: toId(key_id) }),
    ...(os_user !== undefined && { os_user }),
  };
}

export function fromInitiator({ secret_id, key_id, ...initiator }: InitiatorDocument): Initiator {
  return {
    ...initiator,
    secret_id: secret_id && fromId(secret_id),
    ...(key_id !== undefined && { key_id: fromId(key_id) }),
  };
}
