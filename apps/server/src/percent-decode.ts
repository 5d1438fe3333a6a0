/** Decodes percent-encoding (RFC 3986, section 2.1). A text with invalid encoding is returned as it is. */
export function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
