import { ownText } from '@latchkey/domain/own-text';
import { type Reason, reasons } from '@latchkey/domain/reasons';

export type DocumentFault = Extract<Reason, `document_${string}`>;

/** Why there is no document, or set of keys, or it can't be used. */
export class DocumentFailure extends Error {
  override readonly name = 'DocumentFailure';
  readonly fault: DocumentFault;

  /** @param cause - only its words are kept, and few of them: a stranger's server makes it as large as it likes */
  constructor(fault: DocumentFault, cause?: unknown) {
    super(fault, { cause: cause === undefined ? undefined : ownText(wordsOf(cause)) });
    this.fault = fault;
  }

  /** A moment later it may be good: what was there before may still serve. */
  get isTemporary(): boolean {
    return reasons[this.fault].code === 'client_document_unavailable';
  }
}

/** Nothing that was there before serves any more. */
export const isFinal = (error: unknown): error is DocumentFailure =>
  error instanceof DocumentFailure && !error.isTemporary;

const MAX_WORDS = 200;

function wordsOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause).slice(0, MAX_WORDS);
  const { code = '' } = cause as NodeJS.ErrnoException;
  const words = `${cause.name} ${code} ${cause.message}`.slice(0, MAX_WORDS);
  return cause.cause === undefined
    ? words
    : `${words}: ${wordsOf(cause.cause)}`.slice(0, MAX_WORDS);
}
