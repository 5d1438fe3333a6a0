import type { Reason } from '@latchkey/domain/reasons';

export type DocumentFault = Extract<Reason, `document_${string}`>;

/** Why a document, or a set of keys, can't be used. */
export class BadDocument extends Error {
  override readonly name = 'BadDocument';
  readonly fault: DocumentFault;

  constructor(fault: DocumentFault) {
    super(fault);
    this.fault = fault;
  }
}

/** Why there is nothing to read. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure';
  readonly fault: DocumentFault;
  /** Nobody has said that it is gone: what was there before may still serve. */
  readonly unreachable: boolean;

  constructor(fault: DocumentFault, options: { unreachable: boolean; cause?: unknown }) {
    super(fault, options);
    this.fault = fault;
    this.unreachable = options.unreachable;
  }
}
