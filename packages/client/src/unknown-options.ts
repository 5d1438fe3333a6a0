import { nearestName } from '@latchkey/schema';
import { LatchkeyConfigError } from './errors.ts';
import { redactor } from './redact.ts';

const redact = redactor([]);

/**
 * Refuses an option that does not exist, because a mistyped one would be ignored silently.
 *
 * A method that resembles no option is allowed: `new Latchkey(server)` takes the test server of
 * `@latchkey/testing`, which has methods beside the options.
 *
 * @param whose - the owner of the options, such as `convert`
 */
export function refuseUnknownOptions(
  whose: string,
  options: object,
  known: readonly string[],
): void {
  if (typeof options !== 'object' || options === null) {
    throw new LatchkeyConfigError(
      `The options of ${whose} must be an object with members of these names: ${known.join(', ')}.`,
    );
  }
  for (const [name, value] of Object.entries(options)) {
    if (known.includes(name)) continue;
    const nearest = nearestName(name, known);
    if (typeof value === 'function' && nearest === undefined) continue;
    throw new LatchkeyConfigError(
      `${whose} has no option ${redact(name)}.${nearest ? ` Did you mean ${nearest}?` : ''} Its options are ${known.join(', ')}.`,
    );
  }
}
