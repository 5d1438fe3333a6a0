/** Percent-encoding undone (RFC 3986, section 2.1); what is not well encoded stays as it is. */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
