import { unsaidMembers } from './application-members.ts';
import { firstGenerations } from './generations.ts';
import type { ApplicationRecord } from './records.ts';

/** What every application begins with. */
export const plainApplication = {
  ...unsaidMembers,
  public: false,
  document: null,
  disabled: false,
  secrets: [],
  enabled_at: null,
  generations: firstGenerations,
  revocations: 0,
} satisfies Omit<ApplicationRecord, 'id' | 'name' | 'created_at'>;
