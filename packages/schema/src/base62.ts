const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The value of an ASCII character as a digit; 255 if it is not a digit. */
const VALUES = new Uint8Array(128).fill(255);
for (let i = 0; i < DIGITS.length; i++) VALUES[DIGITS.charCodeAt(i)] = i;

// Long division and multiplication handle five digits at a time over 16-bit limbs: 62^5 < 2^30, so a
// product or carry with a limb stays below 2^46 and is exact in a double. Remainders are computed by
// subtraction: `%` on numbers above 32 bits is a function call and took two thirds of the time.
const CHUNK_DIGITS = 5;
const CHUNK = 62 ** CHUNK_DIGITS;

/**
 * Writes a big-endian number in base 62 with the digits `0-9A-Za-z`, padded with zeros on the left.
 *
 * @param bytes - the number; an even number of bytes
 * @param length - how many digits to write; must be enough to hold the number
 */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  const limbs = new Uint16Array(bytes.length / 2);
  for (let i = 0; i < limbs.length; i++) {
    limbs[i] = ((bytes[2 * i] as number) << 8) | (bytes[2 * i + 1] as number);
  }
  const digits = new Array<number>(length);
  let top = 0;
  for (let end = length; end > 0; ) {
    let rest = 0;
    for (let i = top; i < limbs.length; i++) {
      const value = rest * 0x10000 + (limbs[i] as number);
      const quotient = Math.floor(value / CHUNK);
      limbs[i] = quotient;
      rest = value - quotient * CHUNK;
    }
    while (top < limbs.length && limbs[top] === 0) top++;
    for (let digit = 0; digit < CHUNK_DIGITS && end > 0; digit++) {
      digits[--end] = DIGITS.charCodeAt(rest % 62);
      rest = Math.floor(rest / 62);
    }
  }
  return String.fromCharCode.apply(null, digits);
}

/**
 * Reads a base-62 number.
 *
 * @param text - digits `0-9A-Za-z`, most significant first
 * @param byteLength - the size of the number in bytes; even
 * @returns the number, big-endian; null if a character is not a digit or the number does not fit
 */
export function decodeBase62(text: string, byteLength: number): Uint8Array | null {
  const limbs = new Uint16Array(byteLength / 2);
  // All limbs before this one are still zero and can be skipped.
  let top = limbs.length;
  for (let start = 0; start < text.length; ) {
    // The first chunk takes the odd digits, so that all others are complete.
    const end = start === 0 ? text.length % CHUNK_DIGITS || CHUNK_DIGITS : start + CHUNK_DIGITS;
    let carry = 0;
    for (let i = start; i < end; i++) {
      const value = VALUES[text.charCodeAt(i)] ?? 255;
      if (value === 255) return null;
      carry = carry * 62 + value;
    }
    const factor = end - start === CHUNK_DIGITS ? CHUNK : 62 ** (end - start);
    for (let i = limbs.length - 1; i >= top || carry !== 0; i--) {
      if (i < 0) return null;
      const value = (limbs[i] as number) * factor + carry;
      carry = Math.floor(value / 0x10000);
      limbs[i] = value - carry * 0x10000;
      if (i < top) top = i;
    }
    start = end;
  }
  const bytes = new Uint8Array(byteLength);
  for (let i = 0; i < limbs.length; i++) {
    bytes[2 * i] = (limbs[i] as number) >>> 8;
    bytes[2 * i + 1] = (limbs[i] as number) & 0xff;
  }
  return bytes;
}
