/** A fault that a restart does not cure. */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}
