import { DomainError } from '../domain-error.ts';
import type { RateLimit } from './rate-limit-setting.ts';

/** A refusal because there were too many. What was asked for was not done. */
export class RateLimited extends DomainError {
  /** How many may come within a window. */
  readonly limit: number;
  /** Seconds until the window ends, and the count starts anew: a whole number, at least 1. */
  readonly reset: number;

  /** @param milliseconds - until the window ends */
  constructor({ limit }: RateLimit, milliseconds: number) {
    super('rate_limited');
    this.limit = limit;
    this.reset = Math.max(1, Math.ceil(milliseconds / 1000));
  }
}
