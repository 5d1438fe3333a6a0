import type { DatabaseSync } from 'node:sqlite';
import { sqlUseMarks } from '@latchkey/store/sql/by-hand';
import type { UseMarks } from '@latchkey/store/use-mark';
import { alone, dialect, senderOf } from './adapter.ts';

export const useMarks = (database: DatabaseSync): UseMarks =>
  sqlUseMarks(dialect, senderOf(database, alone));
