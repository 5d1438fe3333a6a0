const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** HTML in which every value is escaped. */
export function html(parts: TemplateStringsArray, ...values: unknown[]): string {
  const texts = values.map((value) => String(value).replace(/[&<>"]/g, (c) => ENTITIES[c] ?? c));
  return String.raw({ raw: parts }, ...texts);
}

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${html`${title}`}</title>
<link rel="icon" href="data:,"><body>${body}</body></html>`;
}
