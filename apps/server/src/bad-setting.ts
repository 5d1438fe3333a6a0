/** The message is one line. */
export class BadSetting extends Error {
  override readonly name: string = 'BadSetting';
}
