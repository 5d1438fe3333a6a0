import { type Reason, reasons } from '@latchkey/domain/reasons';
import { type ErrorCode, errorDefinition } from '@latchkey/schema';

export interface Meaning {
  found: string;
  advice: string;
}

/** What a refusal means, for a person. The caller is told less: see `docs/protocol/errors.md`. */
export function meaningOf(code: ErrorCode, reason: Reason | null): Meaning {
  if (reason !== null) {
    const { found, advice } = reasons[reason];
    return { found, advice };
  }
  const { title, help } = errorDefinition(code);
  return { found: `${title}.`, advice: help };
}
