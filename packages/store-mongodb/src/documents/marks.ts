import type { EventType } from '@latchkey/schema';
import type { Binary } from 'mongodb';

/** An event of the document that is no delivery yet. A grant has each type once at most. */
export interface MarkDocument {
  type: EventType;
  at: Date;
}

/** That of an account or an application, which can have many of a type. */
export interface NumberedMarkDocument extends MarkDocument {
  /** Of the event. */
  id: Binary;
}

/** The name may be gone when it is told. */
export interface ApplicationMarkDocument extends NumberedMarkDocument {
  name: string;
}

/** In the words of the indexes of marks. */
export const marked = { 'marks.at': { $exists: true } };
