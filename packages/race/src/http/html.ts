const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A text with its entities replaced. */
export const decode = (html: string): string =>
  html
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&(amp|lt|gt|quot|apos);/g, (_, name) => ENTITIES[name] as string);

/** The attributes of a tag. Their values may have a `>`. */
const ATTRIBUTES = `((?:"[^"]*"|'[^']*'|[^"'>])*)`;

/** An attribute of a tag, such as `name` in ` type="text" name=user`. Without a value, it is empty. */
export function attribute(attributes: string, name: string): string | undefined {
  const all = attributes.matchAll(/([^\s"'=/<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g);
  for (const [, found, double, single, bare] of all) {
    if (found?.toLowerCase() === name) return decode(double ?? single ?? bare ?? '');
  }
  return undefined;
}

/** The forms of a page: their attributes and what is between their tags. */
export const formsOf = (page: string): { attributes: string; content: string }[] =>
  [...page.matchAll(new RegExp(`<form\\b${ATTRIBUTES}>([\\s\\S]*?)</form>`, 'gi'))].map(
    ([, attributes = '', content = '']) => ({ attributes, content }),
  );

const FIELD = new RegExp(`<(input|textarea|select)\\b${ATTRIBUTES}>`, 'gi');
const OPTION = new RegExp(`<option\\b${ATTRIBUTES}>([^<]*)`, 'gi');

/** The fields of a form that a browser sends if nobody presses a button. */
export function fieldsOf(content: string): [name: string, value: string][] {
  return [...content.matchAll(FIELD)].flatMap(([whole, tag = '', attributes = ''], index, all) => {
    const name = attribute(attributes, 'name');
    if (!name || attribute(attributes, 'disabled') !== undefined) return [];
    const rest = content.slice((all[index]?.index ?? 0) + whole.length);
    const [inner = ''] = rest.split(new RegExp(`</${tag}`, 'i'), 1);
    return valuesOf(tag.toLowerCase(), attributes, inner).map((value): [string, string] => [
      name,
      value,
    ]);
  });
}

function valuesOf(tag: string, attributes: string, inner: string): string[] {
  const value = attribute(attributes, 'value');
  if (tag === 'textarea') return [decode(inner.replace(/^\r?\n/, ''))];
  if (tag === 'select') return chosenOf(attributes, inner);
  const type = attribute(attributes, 'type')?.toLowerCase() ?? 'text';
  if (/^(?:submit|button|image|reset|file)$/.test(type)) return [];
  if (!/^(?:checkbox|radio)$/.test(type)) return [value ?? ''];
  return attribute(attributes, 'checked') === undefined ? [] : [value ?? 'on'];
}

/** The selected options; without one, the first, where only one can be. */
function chosenOf(attributes: string, inner: string): string[] {
  const options = [...inner.matchAll(OPTION)].map(([, option = '', label = '']) => ({
    isSelected: attribute(option, 'selected') !== undefined,
    value: attribute(option, 'value') ?? decode(label).trim(),
  }));
  const selected = options.filter(({ isSelected }) => isSelected);
  if (attribute(attributes, 'multiple') !== undefined) return selected.map(({ value }) => value);
  return [selected.at(-1) ?? options[0] ?? []].flat().map(({ value }) => value);
}
