import type { IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { DocumentFailure } from '@latchkey/rules/client-documents/faults';
import { createVouchers } from '@latchkey/rules/vouchers';
import { expect, test } from 'vitest';
import { clientAddress } from '../../src/http/request-metadata.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const PADDING = 1_000_000;
const KEPT = 50;

// Each is cut from what a stranger has sent, and stays in memory for as long as a thousand others have not followed.
test.each<[what: string, keep: (padding: string) => unknown]>([
  [
    'the address of a caller',
    (padding) => {
      const headers = { 'x-forwarded-for': `${padding},203.0.113.100` };
      return clientAddress({ headers } as unknown as IncomingMessage, true);
    },
  ],
  [
    'the address of a document',
    (padding) => {
      const query = new URLSearchParams(`client_id=https://a.example.net/c&pad=${padding}`);
      return createVouchers(null, '').ofAddress(query.get('client_id') as string);
    },
  ],
  [
    'why a fetch failed',
    (padding) => new DocumentFailure('document_tls_failed', new Error(padding)).cause,
  ],
])('%s keeps nothing that stood around it', (_, keep) => {
  const before = heapUsed();
  const kept = Array.from({ length: KEPT }, (_, index) =>
    keep(Buffer.alloc(PADDING, `${index}x`).toString()),
  );
  const taken = heapUsed() - before;
  expect(kept).toHaveLength(KEPT);
  expect(taken).toBeLessThan((KEPT * PADDING) / 10);
});

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
