import type { Response } from './connection.ts';

/** The JSON object of a response; null if it has none. */
export function jsonOf({ body }: Response): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** What a response is that nobody expected. It has nothing of the body. */
export function kindOf(response: Response): string {
  const { status, headers } = response;
  const [type] = (headers['content-type'] ?? '').split(';');
  if (status >= 300 && status < 400) return `${status}, a redirect`;
  if (jsonOf(response) !== null) return `${status}, JSON of another shape`;
  if (type === 'text/html') return `${status}, HTML`;
  return `${status}, without JSON`;
}
