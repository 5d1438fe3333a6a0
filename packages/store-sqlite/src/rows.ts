import type { Actor, Initiator } from '@latchkey/domain/initiator';
import { uuidFromBytes, uuidToBytes } from '@latchkey/schema';

// Like `application ~AZOq…AAQ AZOq…AAg`: a revoked grant has 650 bytes, 1,000 with JSON.

/** No other request id contains it. */
const SHORTENED = '~';
/** No shortened id contains them. */
const OS_USER = '@';
const KEY = '*';

// A caller's own request id may be an upper-case UUID, which would come back in lower case.
const LOWER_CASE_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function initiatorText(initiator: Initiator): string {
  const { by, request_id, secret_id, key_id, os_user } = initiator;
  const request = LOWER_CASE_UUID.test(request_id) ? SHORTENED + shorten(request_id) : request_id;
  let text = `${by} ${request}`;
  if (secret_id !== null) text += ` ${shorten(secret_id)}`;
  if (key_id !== undefined) text += ` ${KEY}${shorten(key_id)}`;
  if (os_user !== undefined) text += ` ${OS_USER}${encodeURIComponent(os_user)}`;
  return text;
}

export function initiatorRecord(text: string): Initiator {
  const [by, request = '', ...rest] = text.split(' ');
  const marked = (mark: string) => rest.find((word) => word.startsWith(mark))?.slice(mark.length);
  const secret = rest.find((word) => !word.startsWith(OS_USER) && !word.startsWith(KEY));
  const [key, user] = [marked(KEY), marked(OS_USER)];
  return {
    request_id: request.startsWith(SHORTENED) ? lengthen(request.slice(1)) : request,
    by: by as Actor,
    secret_id: secret === undefined ? null : lengthen(secret),
    ...(key !== undefined && { key_id: lengthen(key) }),
    ...(user !== undefined && { os_user: decodeURIComponent(user) }),
  };
}

const shorten = (uuid: string) => Buffer.from(uuidToBytes(uuid)).toString('base64url');
const lengthen = (text: string) => uuidFromBytes(Buffer.from(text, 'base64url'));
