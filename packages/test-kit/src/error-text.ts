/** Removes the credentials from URLs: errors and logs quote them. */
function withoutCredentials(text: string): string {
  return text.replaceAll(/(\w:\/\/)[^\s/@]+@/g, '$1***@');
}

export function lastLines(text: string, count: number): string {
  return withoutCredentials(text.trim().split('\n').slice(-count).join('\n'));
}

export function reasonOf(error: unknown): string {
  return withoutCredentials(error instanceof Error ? error.message : String(error));
}
