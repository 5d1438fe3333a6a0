import { DomainError } from '@latchkey/domain/domain-error';
import type { Reason } from '@latchkey/domain/reasons';
import type { LimitName, RateLimit } from './rate-limit-setting.ts';

const reasonOf = {
  authentications: 'too_many_failed_authentications',
  exchanges: 'too_many_failed_exchanges',
  requests: 'too_many_requests',
  links: 'too_many_links',
  links_total: 'too_many_links_together',
  pages: 'too_many_page_actions',
  assertions: 'too_many_failed_authentications',
} as const satisfies Record<LimitName, Reason>;

export class RateLimited extends DomainError {
  readonly limit: number;
  readonly reset: number;

  constructor(name: LimitName, { limit }: RateLimit, milliseconds: number) {
    super('rate_limited', {}, undefined, { reason: reasonOf[name], subject: {} });
    this.limit = limit;
    this.reset = Math.max(1, Math.ceil(milliseconds / 1000));
  }
}
