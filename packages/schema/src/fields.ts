import { z } from 'zod';
import type { Role } from './caller.ts';
import { isSeen, seenPart } from './names.ts';

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

/** At most so many UTF-16 units become one code point of NFC. Longer text stays too long. */
const MOST_UNITS = 6;

/**
 * Text for people that an operator types, in Unicode's form NFC. What shows nothing could make one
 * name look like another, or reverse the text around it.
 *
 * @param maxLength - in code points, of that form
 */
export const textOf = (maxLength: number) =>
  z
    .string()
    // The time that thousands of marks take grows with the square of their number: 30 ms for 10 KB.
    .overwrite((text) => (text.length > maxLength * MOST_UNITS ? text : text.normalize('NFC')))
    .regex(
      // With the u flag, the pattern counts code points instead of UTF-16 units, as JSON Schema does.
      // The surrogate range then matches only lone surrogates, which UTF-8 cannot encode. Control
      // characters are Unicode category Cc.
      new RegExp(`^[^\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff]{1,${maxLength}}$`, 'u'),
      { error: `Must be 1 to ${maxLength} characters without control characters.`, abort: true },
    )
    .refine(
      isSeen,
      'Must have no invisible characters, such as direction marks, at most 4 marks in a row, and not only white space.',
    )
    .meta({ minLength: 1, maxLength });

/** The name of an application. */
export const text = textOf(200);

/**
 * Text of one of the host's users, who cannot be asked to change it: what an operator could not type
 * is taken out. Empty if nothing is left that shows.
 *
 * @param maxLength - in code points, of the rest
 */
export const hostTextOf = (maxLength: number) =>
  z
    .string()
    .overwrite(seenPart)
    .refine((text) => [...text].length <= maxLength, `Must be at most ${maxLength} characters.`);

/** A name of one of the host's users. */
export const hostText = hostTextOf(200);

/** An id that the host has made. */
export const hostId = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/, 'Must be 1 to 128 characters of printable ASCII without spaces.')
  .meta({ minLength: 1, maxLength: 128 });

/** The host's own id of an account. */
export const externalId = hostId.meta({ examples: ['user-4711'] });

const MAX_SCOPE_TOKENS = 32;
const MAX_SCOPE_LENGTH = 1000;

/** Space-separated scope tokens. The alphabet is defined in RFC 6749, section 3.3. */
export const scope = z
  .string()
  .max(MAX_SCOPE_LENGTH, `Must be at most ${MAX_SCOPE_LENGTH} characters.`)
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/,
    'Must be scope tokens of printable ASCII without quotation marks and backslashes, separated by single spaces.',
  )
  .refine((value) => {
    const tokens = value.split(' ');
    return tokens.length <= MAX_SCOPE_TOKENS && new Set(tokens).size === tokens.length;
  }, `Must be at most ${MAX_SCOPE_TOKENS} different tokens.`)
  .meta({
    description: 'Space-separated scope tokens (RFC 6749 section 3.3).',
    examples: ['profile.read'],
  });

/** One scope token. */
export const scopeToken = z
  .string()
  .regex(
    /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/,
    'Must be one scope token: 1 to 200 printable ASCII characters without spaces, quotation marks and backslashes.',
  )
  .meta({ examples: ['profile.read'] });

export const isDistinct = (tokens: readonly string[]) => new Set(tokens).size === tokens.length;

/** As many scope tokens as one scope can have. */
export const scopeTokens = z
  .array(scopeToken)
  .min(1, 'Must be at least one scope.')
  .max(MAX_SCOPE_TOKENS, `Must be at most ${MAX_SCOPE_TOKENS} scopes.`)
  .refine(isDistinct, 'Must be different scopes.');

/** Scope tokens that a request asks for if it names none: together they are one scope. */
export const defaultScopes = scopeTokens.refine(
  (tokens) => tokens.join(' ').length <= MAX_SCOPE_LENGTH,
  `Must be at most ${MAX_SCOPE_LENGTH} characters together, with a space between two scopes.`,
);

/** What a key of the operator may do: see {@link Role}. */
export const role = z.enum(
  ['read', 'host', 'support', 'operate'] satisfies Role[],
  'Must be read, host, support or operate.',
);

/** A BCP 47 language tag. */
export const languageTag = z
  .string()
  .regex(
    /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,8}$/,
    'Must be a language tag of BCP 47, such as de or pt-BR.',
  )
  .meta({ examples: ['de'] });

/** The challenge of RFC 7636 with the method S256: BASE64URL(SHA-256(verifier)). */
export const codeChallenge = z
  .string()
  .regex(
    /^[A-Za-z0-9_-]{43}$/,
    'Must be the base64url of the SHA-256 of the code_verifier: 43 characters without padding.',
  )
  .meta({ examples: ['E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'] });

/** The verifier of RFC 7636, section 4.1. */
export const codeVerifier = z
  .string()
  .regex(
    /^[A-Za-z0-9._~-]{43,128}$/,
    'Must be 43 to 128 characters of A-Z, a-z, 0-9, hyphen, dot, underscore and tilde.',
  )
  .meta({ examples: ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'] });
