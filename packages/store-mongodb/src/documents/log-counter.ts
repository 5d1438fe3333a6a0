import type { LogCounterRecord } from '@latchkey/store/records';

/** In the collection `schema`, whose other documents lack the number. */
export interface LogCounterDocument {
  _id: string;
  log_number: number;
}

export function toLogCounterDocument({ name, number }: LogCounterRecord): LogCounterDocument {
  return { _id: name, log_number: number };
}

export function fromLogCounterDocument({ _id, log_number }: LogCounterDocument): LogCounterRecord {
  return { name: _id, number: log_number };
}
