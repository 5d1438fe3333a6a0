const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc;
});

/**
 * CRC-32 (IEEE 802.3, as used by zip and PNG) of an ASCII text.
 *
 * @param text - characters U+0000 to U+007F; only the low byte of other characters counts
 * @returns an unsigned 32-bit integer
 */
export function crc32(text: string): number {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc = (crc >>> 8) ^ (table[(crc ^ text.charCodeAt(i)) & 0xff] as number);
  }
  return ~crc >>> 0;
}
