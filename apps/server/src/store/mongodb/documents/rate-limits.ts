export interface RateLimitDocument {
  _id: string;
  count: number;
  /** The TTL index deletes by it. */
  ends_at: Date;
}
