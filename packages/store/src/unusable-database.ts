/** A database that stays unusable until somebody does what the message says. */
export class UnusableDatabase extends Error {
  override readonly name: string = 'UnusableDatabase';
}
