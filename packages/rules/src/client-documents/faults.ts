import { type Reason, reasons } from '@latchkey/domain/reasons';

export type DocumentFault = Extract<Reason, `document_${string}`>;

/** Why there is no document, or set of keys, or it can't be used. */
export class DocumentFailure extends Error {
  override readonly name = 'DocumentFailure';
  readonly fault: DocumentFault;

  constructor(fault: DocumentFault, cause?: unknown) {
    super(fault, { cause });
    this.fault = fault;
  }

  /** A moment later it may be good: what was there before may still serve. */
  get isTemporary(): boolean {
    return reasons[this.fault].code === 'client_document_unavailable';
  }
}
