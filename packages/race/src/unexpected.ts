/** What an error is and where it was thrown, without its message: that may have a code or a token in it. */
export function describeUnexpected(error: unknown): string {
  if (!(error instanceof Error)) return `a ${error === null ? 'null' : typeof error} was thrown`;
  const { code, message, stack = '' } = error as NodeJS.ErrnoException;
  const name = /^[A-Z_\d]+$/.test(`${code}`) ? code : error.constructor.name;
  const frames = stack.slice(stack.indexOf(message) + message.length);
  const [, place] = /^ {4}at .*?((?:file:|\/|[A-Z]:\\)[^()]*:\d+:\d+)\)?$/m.exec(frames) ?? [];
  return place === undefined ? `${name}` : `${name}, at ${place}`;
}
