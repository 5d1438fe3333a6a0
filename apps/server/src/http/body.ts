import { isUtf8 } from 'node:buffer';
import { decodeJson } from '@latchkey/domain/decode-json';
import { DomainError } from '@latchkey/domain/domain-error';
import { restartRequest } from '@latchkey/domain/request-scope';
import { ClientGone } from '../operations/call.ts';
import type { RequestContext } from './request-context.ts';

/** A tRPC batch is one body. */
export const MAX_BODY_BYTES = 16 * 1024;

const mediaTypes = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
} as const;

export type BodyFormat = keyof typeof mediaTypes;

export interface Body {
  format: BodyFormat;
  bytes: Buffer;
}

export async function readJson(context: RequestContext): Promise<unknown> {
  const body = await readBody(context, ['json']);
  return body === undefined ? undefined : parseJson(body.bytes);
}

/** Checks the media type, then the size. */
export async function readBody(
  context: RequestContext,
  accepted: readonly BodyFormat[],
): Promise<Body | undefined> {
  const { headers } = context.request;
  const chunked = headers['transfer-encoding'] !== undefined;
  const length = Number(headers['content-length'] ?? 0);
  if (!chunked && length === 0) return undefined;

  const encoding = headers['content-encoding'] ?? 'identity';
  const isPlain = encoding.trim().toLowerCase() === 'identity';
  const format = isPlain ? formatOf(headers['content-type'], accepted) : undefined;
  // Whether a chunked body is empty is known only after reading it.
  if (!chunked && format === undefined) throw new DomainError('media_type_unsupported');
  if (length > MAX_BODY_BYTES) throw new DomainError('body_too_large');
  const bytes = await readBytes(context, format === undefined ? 0 : MAX_BODY_BYTES);
  if (context.waitedForBody) restartRequest();
  if (bytes.length === 0) return undefined;
  if (format === undefined) throw new DomainError('media_type_unsupported');
  if (bytes.length > MAX_BODY_BYTES) throw new DomainError('body_too_large');
  return { format, bytes };
}

export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new DomainError('body_malformed');
  try {
    // RFC 8259, section 8.1. Tools of Windows write one.
    return decodeJson(bytes.toString().replace(/^\uFEFF/, ''));
  } catch {
    throw new DomainError('body_malformed');
  }
}

/** The members of a body of JSON, or of a part of it. */
export function jsonMembers(value: unknown, mayBeEmpty: boolean): object {
  if (value === undefined && mayBeEmpty) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('body_malformed');
  }
  return value;
}

export const isDeclaredAsJson = (contentType: string | undefined): boolean =>
  formatOf(contentType, ['json']) !== undefined;

export function isDeclaredAsForm(contentType: string | undefined): boolean {
  if (contentType === mediaTypes.json) return false;
  const [type = ''] = (contentType ?? '').split(';');
  return type.trim().toLowerCase() === mediaTypes.form;
}

function formatOf(
  contentType: string | undefined,
  accepted: readonly BodyFormat[],
): BodyFormat | undefined {
  for (const format of accepted) if (contentType === mediaTypes[format]) return format;
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const named = accepted.find((format) => mediaTypes[format] === type.trim());
  // A charset other than UTF-8 does not match (RFC 9110, section 8.3).
  const isInUtf8 = parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^("?)utf-?8\1$/.test(value.trim());
  });
  return isInUtf8 ? named : undefined;
}

/** Stops when there are more bytes than `most`. */
async function readBytes(context: RequestContext, most: number): Promise<Buffer> {
  const { request, response, expectsContinue } = context;
  // The client may have gone during authentication.
  if (request.destroyed) throw new ClientGone();
  // Nearly every body arrives with its headers. Reading it by events takes 3 % of the CPU of a
  // revocation.
  context.waitedForBody = !context.arrivedWhole;
  if (request.complete) return request.read() ?? Buffer.alloc(0);
  if (expectsContinue) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      if (size > most) return;
      size += chunk.length;
      chunks.push(chunk);
      if (size > most) resolve(Buffer.concat(chunks));
    });
    request.once('end', () => resolve(Buffer.concat(chunks)));
    request.once('error', () => reject(new ClientGone()));
    request.once('close', () => reject(new ClientGone()));
  });
}
