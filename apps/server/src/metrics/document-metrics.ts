import type { ClientDocuments } from '@latchkey/rules/client-documents/client-documents';
import { Counter, Gauge } from 'prom-client';
import type { Registers } from './registers.ts';

export function collectDocuments(
  registers: Registers,
  { results, load }: Pick<ClientDocuments, 'results' | 'load'>,
): void {
  new Counter({
    name: 'latchkey_document_fetches_total',
    help: 'Fetches of client documents, by result, each 0 from the start.',
    labelNames: ['result'],
    registers,
    collect() {
      this.reset();
      for (const [result, count] of Object.entries(results())) this.inc({ result }, count);
    },
  });
  new Gauge({
    name: 'latchkey_outbound_fetches',
    help: 'Fetches of client documents and of keys that run, or wait for a place.',
    labelNames: ['kind', 'state'],
    registers,
    collect() {
      for (const [kind, states] of Object.entries(load())) {
        for (const [state, count] of Object.entries(states)) this.set({ kind, state }, count);
      }
    },
  });
}
