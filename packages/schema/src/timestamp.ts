/**
 * Formats a time for the wire: ISO 8601 with milliseconds and an explicit offset,
 * `2026-11-21T02:15:30.123+00:00`.
 *
 * @param milliseconds - since 1970-01-01T00:00Z; must be in the years 0 to 9999
 */
export function formatTimestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '+00:00');
}
