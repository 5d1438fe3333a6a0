import type { Timeouts } from '@latchkey/store/server-store';
import { WriteConcern } from 'mongodb';
import type { ServerFacts } from './server.ts';

/** Passed with each operation, so that they override the options of the URL. */
export interface Concerns {
  durable: { writeConcern: WriteConcern; maxTimeMS: number };
  bestEffort: { writeConcern: WriteConcern; maxTimeMS: number };
  /** For reads of one document by `_id` that decide something. */
  decisive: ReadOptions;
  listing: ReadOptions;
  /** For reads that decide nothing. Stale if the primary was just deposed. */
  plain: ReadOptions;
}

interface ReadOptions {
  readConcern: { level: 'linearizable' | 'majority' | 'local' };
  maxTimeMS: number;
}

export function concernsFor(server: ServerFacts, timeouts: Timeouts): Concerns {
  const maxTimeMS = timeouts.operation;
  const read = (level: ReadOptions['readConcern']['level']): ReadOptions => ({
    readConcern: { level },
    maxTimeMS,
  });
  const listing = read(server.replicated ? 'majority' : 'local');
  return {
    durable: {
      // Neither a failover nor a power cut undoes it. After a timeout, its outcome is unknown.
      writeConcern: new WriteConcern('majority', timeouts.operation, true),
      maxTimeMS,
    },
    bestEffort: { writeConcern: new WriteConcern(1), maxTimeMS },
    // A deposed primary still serves `majority` reads, and would accept a revoked grant: see
    // decision 13. A `linearizable` read may wait for ever, hence maxTimeMS.
    decisive: server.replicated ? read('linearizable') : listing,
    listing,
    plain: read('local'),
  };
}
