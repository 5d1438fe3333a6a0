/** A restart would fail in the same way. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}
