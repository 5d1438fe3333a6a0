export interface RateLimitDocument {
  _id: string;
  count: number;
  ends_at: Date;
}
