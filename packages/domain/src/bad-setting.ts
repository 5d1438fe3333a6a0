/** The message is one line. */
export class BadSetting extends Error {
  override readonly name: string = 'BadSetting';
}

/** What no value has, whatever the setting; null if this one has not. */
export function wrappingFault(text: string): string | null {
  if (/^(["']).*\1$/s.test(text)) {
    return 'must have no quotes around it, which docker run --env-file keeps as a part of the value';
  }
  return /^\s|\s$/.test(text) ? 'must not begin or end with white space' : null;
}
