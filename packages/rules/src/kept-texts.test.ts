import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { DocumentFailure } from './client-documents/faults.ts';
import { addressKey, SharedLimit } from './limits/limit.ts';
import { noLimits } from './limits/limits.ts';
import { createVouchers } from './vouchers.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const PADDING = 1_000_000;
const KEPT = 50;

const store = { addToCount: () => Promise.reject(new Error('Nothing is shared.')) };
const bound = { limit: KEPT, seconds: 60 };
const limit = new SharedLimit('requests', bound, { store, clock: Date.now }, () => {});

const addressCutFrom = (padding: string) =>
  addressKey(`${padding},198.51.100.${100 + Number.parseInt(padding, 10)}`.split(',')[1]);

// Each is cut from what a stranger has sent, and stays in memory for as long as a thousand others have not followed.
test.each<[what: string, keep: (padding: string) => unknown]>([
  ['an address that a limit counts', (padding) => limit.count(addressCutFrom(padding))],
  [
    'an address that a link request came from',
    (padding) => noLimits.links.begun(randomUUID(), addressCutFrom(padding)),
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
