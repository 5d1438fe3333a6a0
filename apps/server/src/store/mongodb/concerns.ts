import { WriteConcern } from 'mongodb';
import type { Timeouts } from './client.ts';
import type { ServerFacts } from './server.ts';

/** Given with each operation, so that they win over the options of the URL. */
export interface Concerns {
  /** For every write that a promise of the port depends on. */
  durable: { writeConcern: WriteConcern; maxTimeMS: number };
  /** For writes that may be lost in a failover. */
  bestEffort: { writeConcern: WriteConcern; maxTimeMS: number };
  /** For reads of one document by `_id` that decide something. */
  decisive: ReadOptions;
  listing: ReadOptions;
  /** For reads that decide nothing. All that was acknowledged is on the primary, if it still is one. */
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
      // In the journal of a majority: neither a failover nor a power cut can take it back. After the
      // timeout the database returns a write concern error. The write is then made and may still be
      // rolled back, so its outcome is unknown.
      writeConcern: new WriteConcern('majority', timeouts.operation, true),
      maxTimeMS,
    },
    bestEffort: { writeConcern: new WriteConcern(1), maxTimeMS },
    // An old primary that does not know yet that it was replaced still answers `majority` reads, and
    // would accept a revoked grant. For `linearizable` a majority has to confirm it first, which can
    // take forever: hence maxTimeMS. See decision 13.
    decisive: server.replicated ? read('linearizable') : listing,
    listing,
    plain: read('local'),
  };
}
