/**
 * A setting that can't be used: the program can't work until somebody changes it. The message is one
 * line that names the setting.
 */
export class BadSetting extends Error {
  override readonly name: string = 'BadSetting';
}
