import { BadSetting } from '@latchkey/domain/bad-setting';

/** The endpoint of the demo, which hears nothing outside of it. */
export const DEMO_ENDPOINT_ID = '0196a3c8-6b00-7d4e-8d0d-64656d6f6576';

/** Of EVENTS_KEY and EVENTS_KEY_PREVIOUS: see `fingerprintsOf`. */
export interface KeyFingerprints {
  current: string;
  previous: string | null;
  /** Whether the keys take the place of those that the database knows. Default: false. */
  isNew?: boolean;
}

const given = ({ current, previous }: KeyFingerprints) => [
  ...new Set([current, previous ?? current]),
];

/**
 * The keys that a database knows once these sign for its endpoints, the newest first. The one before
 * stays until the new one is used alone: until then, a process may be restarted without the new one.
 *
 * @returns null if these sign for nobody who has a secret of the known ones
 */
export function knownAfter(
  known: readonly string[] | undefined,
  keys: KeyFingerprints,
): readonly string[] | null {
  const { current, previous, isNew = false } = keys;
  if (known === undefined || isNew) return given(keys);
  if (previous !== null && known.includes(previous)) return given(keys);
  if (!known.includes(current)) return null;
  return previous === null && current === known[0] ? given(keys) : known;
}

/**
 * @param keys - null if nothing signs
 * @returns the keys that the database knows from then on
 * @throws BadSetting if its endpoints would hear nothing, or refuse what they hear
 */
export async function knownKeysAfter(
  database: {
    /** In messages. */
    name: string;
    /** Of the demo, it does not count. */
    hasEndpoints(): Promise<boolean>;
  },
  known: readonly string[] | undefined,
  keys: KeyFingerprints | null,
): Promise<readonly string[] | undefined> {
  const after = keys && knownAfter(known, keys);
  if (after) return after;
  // Without endpoints, nobody has a secret of the known keys.
  if (!(await database.hasEndpoints())) return keys ? given(keys) : known;
  throw new BadSetting(
    keys === null
      ? `${database.name} has endpoints, and EVENTS_KEY is not set: they would not hear of what changes. Set EVENTS_KEY to that of the services that use it.`
      : `${database.name} has endpoints, and EVENTS_KEY is another key than that of their secrets: they would refuse every message. Set EVENTS_KEY to that key; or, to replace it, EVENTS_KEY_PREVIOUS. If that key is lost or has leaked, run \`latchkey serve --new-events-key\` once, then \`latchkey endpoint rotate ID --overlap 0\` for each endpoint, and give the new secrets to the receivers.`,
  );
}
