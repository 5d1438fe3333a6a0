import type { EventType } from '@latchkey/schema';
import type { Binary } from 'mongodb';

/** An event of the document that is no delivery yet. A grant has each type once at most. */
export interface MarkDocument {
  type: EventType;
  at: Date;
  /** Of the event. Absent if that is made of its grant. */
  id?: Binary;
  /** Of the application: it may be gone when it is told. */
  name?: string;
}

/** In the words of the indexes of marks. */
export const marked = { 'marks.at': { $exists: true } };
