export function isDatabaseUrl(text: string): boolean {
  return /^(?:file:.|mongodb(?:\+srv)?:\/\/.)/.test(text);
}
