import { isUtf8 } from 'node:buffer';
import { DomainError } from '../domain-error.ts';
import type { Exchange } from './exchange.ts';

/** The largest body that is read; a tRPC batch as a whole is one body. */
export const MAX_BODY_BYTES = 16 * 1024;

/** The caller went away before it had sent its request: there is nobody to answer. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

/**
 * Reads a body as JSON: media type, then size, then syntax.
 *
 * @returns undefined where there is no body
 * @throws DomainError `media_type_unsupported`, `body_too_large`, `body_malformed`; CallerGone
 */
export async function readJson(exchange: Exchange): Promise<unknown> {
  const { headers } = exchange.request;
  const chunked = headers['transfer-encoding'] !== undefined;
  const length = Number(headers['content-length'] ?? 0);
  if (!chunked && length === 0) return undefined;

  const supported = isJson(headers['content-type']) && isPlain(headers['content-encoding']);
  // Of a chunked body only reading tells whether there is one.
  if (!chunked && !supported) throw new DomainError('media_type_unsupported');
  if (length > MAX_BODY_BYTES) throw new DomainError('body_too_large');
  const bytes = await readBytes(exchange, supported);
  return bytes.length === 0 ? undefined : parseJson(bytes);
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new DomainError('body_malformed');
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw new DomainError('body_malformed');
  }
}

/** `application/json`, and in UTF-8 if it says what it is in (RFC 9110, section 8.3). */
function isJson(contentType: string | undefined): boolean {
  // What nearly every caller sends, without a look at the parameters.
  if (contentType === 'application/json') return true;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  if (type.trim() !== 'application/json') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^("?)utf-?8\1$/.test(value.trim());
  });
}

function isPlain(contentEncoding: string | undefined): boolean {
  return contentEncoding === undefined || contentEncoding.trim().toLowerCase() === 'identity';
}

/** @param supported - false where the first byte shows that there is a body, of a wrong type */
async function readBytes(
  { request, response, expectsContinue }: Exchange,
  supported: boolean,
): Promise<Buffer> {
  // Gone while it was authenticated: then nothing of the request happens any more.
  if (request.destroyed) throw new CallerGone();
  // Nearly every body comes together with its headers: to read it by events takes 3 % of the CPU of
  // a revocation.
  if (request.complete) {
    const bytes: Buffer = request.read() ?? Buffer.alloc(0);
    checkSize(bytes.length, supported);
    return bytes;
  }
  if (expectsContinue) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      try {
        checkSize(size, supported);
        chunks.push(chunk);
      } catch (error) {
        reject(error);
      }
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', () => reject(new CallerGone()));
    request.once('close', () => reject(new CallerGone()));
  });
}

/** @param size - of what is there of a body so far */
function checkSize(size: number, supported: boolean): void {
  if (size > 0 && !supported) throw new DomainError('media_type_unsupported');
  if (size > MAX_BODY_BYTES) throw new DomainError('body_too_large');
}
