import { BadSetting } from '../bad-setting.ts';

/** The endpoint of the demo, which hears nothing outside of it. */
export const DEMO_ENDPOINT_ID = '0196a3c8-6b00-7d4e-8d0d-64656d6f6576';

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
