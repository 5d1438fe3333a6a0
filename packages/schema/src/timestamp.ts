/**
 * Writes a moment as the wire does: ISO 8601 with milliseconds and the offset written out,
 * `2026-11-21T02:15:30.123+00:00`.
 *
 * @param milliseconds - since 1970-01-01T00:00Z, within the years 0 to 9999
 */
export function formatTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '+00:00');
}
