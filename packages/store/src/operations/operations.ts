import type { Clock } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import { accounts, type EraseMessages } from './accounts.ts';
import { applications } from './applications.ts';
import { codes } from './codes.ts';
import { commandChanges } from './command-changes.ts';
import { grants } from './grants.ts';
import { keys } from './keys.ts';
import { links } from './links.ts';
import { logNumbers } from './log-numbers.ts';
import { pages } from './pages.ts';
import { refusals } from './refusals.ts';
import { resources } from './resources.ts';
import { scopes } from './scopes.ts';

/** What every store does in the same way. */
export const operations = (db: Adapter, clock: Clock, eraseMessages: EraseMessages) => ({
  ...accounts(db, clock, eraseMessages),
  ...applications(db),
  ...scopes(db, clock),
  ...resources(db),
  ...keys(db),
  ...codes(db),
  ...grants(db),
  ...links(db),
  ...pages(db),
  ...refusals(db),
  ...commandChanges(db),
  ...logNumbers(db),
});
