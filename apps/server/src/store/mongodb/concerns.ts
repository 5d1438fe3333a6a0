import { WriteConcern } from 'mongodb';
import type { ServerFacts } from './server.ts';
import type { Patience } from './settings.ts';

/**
 * What every operation asks of the database, whatever the connection string says: options given
 * with an operation win over those of the URL. That all goes to the primary is set in
 * `settings.ts`, for the client as a whole.
 */
export interface Concerns {
  /** For every write that a promise of the port rests on. */
  durable: { writeConcern: WriteConcern; maxTimeMS: number };
  /** For what may get lost with the primary. */
  bestEffort: { writeConcern: WriteConcern; maxTimeMS: number };
  /** For reads of one document by its `_id`, on which something is decided. */
  decisive: ReadOptions;
  /** For lists. */
  listing: ReadOptions;
}

interface ReadOptions {
  readConcern: { level: 'linearizable' | 'majority' | 'local' };
  maxTimeMS: number;
}

export function concernsFor(server: ServerFacts, patience: Patience): Concerns {
  const maxTimeMS = patience.operation;
  const read = (level: ReadOptions['readConcern']['level']): ReadOptions => ({
    readConcern: { level },
    maxTimeMS,
  });
  const listing = read(server.replicated ? 'majority' : 'local');
  return {
    durable: {
      // On a majority, and there in the journal: an election can't take it back, nor a power cut.
      // When the time is over the database answers with a write concern error. Then the write is
      // made and may yet be rolled back, so that is an unknown outcome, never a success.
      writeConcern: new WriteConcern('majority', patience.operation, true),
      maxTimeMS,
    },
    bestEffort: { writeConcern: new WriteConcern(1), maxTimeMS },
    // A primary that was deposed and does not know it yet still answers `majority` reads, and would
    // accept a grant that was revoked meanwhile. For `linearizable` it has to find out first: it
    // answers after a majority has confirmed it. That can take forever without a majority, hence
    // never without maxTimeMS. The guarantee holds for the documents that are found by `_id`, joined
    // ones too; on a sharded cluster the shards pass it on to each other.
    decisive: server.linearizable ? read('linearizable') : listing,
    listing,
  };
}
