/** The path and the query of a request target (RFC 9112, section 3.2). */
export interface Target {
  path: string;
  /** Without the question mark; empty where there is none. */
  query: string;
}

export function splitTarget(target: string): Target {
  // Absolute form, as a proxy sends it; everyone else sends the origin form.
  const origin = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
  const mark = origin.indexOf('?');
  return mark === -1
    ? { path: origin, query: '' }
    : { path: origin.slice(0, mark), query: origin.slice(mark + 1) };
}
