import type { DocumentedClient } from '@latchkey/store/records';
import type { Binary } from 'mongodb';
import type { Versioned } from '../retry-on-conflict.ts';
import type { ApplicationMarkDocument } from './marks.ts';

/** What is read of an application by hand. The kind has all of it. */
export interface ApplicationDocument extends Versioned {
  _id: Binary;
  deleted_at?: Date;
  /** Of a deleted application, until its grants are told. */
  document_uri?: string;
  /** Absent if an operator registered it. */
  document?: DocumentedClient;
  /** Absent for none. */
  marks?: ApplicationMarkDocument[];
}
