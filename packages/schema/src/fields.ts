import { z } from 'zod';

/** A UUID: any version and case on input; converted to lower case. */
export const uuid = z
  .guid('Must be a UUID, such as 0193aa00-0000-7000-8000-000000000001.')
  .toLowerCase()
  .meta({ format: 'uuid', examples: ['0193aa00-0000-7000-8000-000000000001'] });

/** A timestamp on output: with milliseconds and an explicit offset. */
export const timestamp = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+00:00$/)
  .meta({ format: 'date-time', examples: ['2026-11-21T02:15:30.123+00:00'] });

/** A timestamp on input: ISO 8601 with an offset, any precision, up to the year 9999. */
export const moment = z.iso
  .datetime({
    offset: true,
    error: 'Must be an ISO 8601 timestamp with an offset, such as 2027-01-31T00:00:00Z.',
  })
  // Also runs if the text is not a timestamp: a NaN passes, so that there is only one issue.
  .refine((text) => !(Date.parse(text) >= Date.UTC(10_000, 0)), 'Must be before the year 10000.')
  .meta({ examples: ['2027-01-31T00:00:00Z'] });

// With the u flag, the pattern counts code points instead of UTF-16 units, as JSON Schema does. The
// surrogate range then matches only lone surrogates, which UTF-8 cannot encode. Control characters
// are Unicode category Cc.
export const text = z
  .string()
  .regex(
    /^[^\u0000-\u001f\u007f-\u009f\ud800-\udfff]{1,200}$/u,
    'Must be 1 to 200 characters without control characters.',
  )
  .meta({ minLength: 1, maxLength: 200 });

const MAX_SCOPE_TOKENS = 32;

/** Space-separated scope tokens. The alphabet is defined in RFC 6749, section 3.3. */
export const scope = z
  .string()
  .max(1000, 'Must be at most 1000 characters.')
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    'Must be scope tokens of printable ASCII without quotation marks and backslashes, separated by single spaces.',
  )
  .refine((value) => {
    const tokens = value.split(' ');
    return tokens.length <= MAX_SCOPE_TOKENS && new Set(tokens).size === tokens.length;
  }, `Must be at most ${MAX_SCOPE_TOKENS} different tokens.`)
  .meta({ examples: ['profile.read'] });
