/** A setting that must be changed before the program can work. The message is one line. */
export class BadSetting extends Error {
  override readonly name: string = 'BadSetting';
}
