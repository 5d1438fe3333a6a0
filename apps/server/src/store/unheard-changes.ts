import { BadSetting } from '../bad-setting.ts';

/**
 * Refuses to change a database whose endpoints would not hear of it.
 *
 * @param database - its name in messages
 * @throws BadSetting
 */
export function refuseUnheardChanges(database: string): never {
  throw new BadSetting(
    `${database} has endpoints, and EVENTS_KEY is not set: they would not hear of what changes. Set EVENTS_KEY to that of the services that use it.`,
  );
}
