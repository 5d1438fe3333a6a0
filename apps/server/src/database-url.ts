/** Whether a text has the form of a DATABASE_URL. */
export function isDatabaseUrl(text: string): boolean {
  return /^(?:file:.|mongodb(?:\+srv)?:\/\/.)/.test(text);
}
