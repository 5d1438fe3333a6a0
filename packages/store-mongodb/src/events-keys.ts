import type { Store } from '@latchkey/store/store';
import { claimDatabase } from '@latchkey/store/use-mark';
import type { Database } from './database.ts';
import { claimed } from './use-mark.ts';

export function eventsKeys(database: Database): Pick<Store, 'admitEventsKeys' | 'findEventsKeys'> {
  return {
    admitEventsKeys: (eventsKeys) =>
      database.writeOnce((collections) =>
        claimDatabase(claimed(collections), { evenIfCopied: false, eventsKeys }),
      ),
    findEventsKeys: () =>
      database.read(async (collections) => (await claimed(collections).find())?.events_keys),
  };
}
