const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** A text with its entities replaced. */
export const decode = (html: string): string =>
  html
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name] as string);

/** An attribute of a tag, such as `name` in ` type="text" name=user`. */
export function attribute(attributes: string, name: string): string | undefined {
  const value = `\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`;
  const [, double, single, bare] =
    new RegExp(`(?<![\\w-])${name}${value}`, 'i').exec(attributes) ?? [];
  const found = double ?? single ?? bare;
  return found === undefined ? undefined : decode(found);
}

/** The forms of a page: their attributes and what is between their tags. */
export const formsOf = (page: string): { attributes: string; content: string }[] =>
  [...page.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map(
    ([, attributes = '', content = '']) => ({ attributes, content }),
  );
