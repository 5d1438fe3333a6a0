const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** A text with its entities replaced, each once. */
export const decode = (html: string): string =>
  html.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|(amp|lt|gt|quot|apos));/gi,
    (entity, decimal, hex, name) =>
      name === undefined
        ? character(decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal))
        : (ENTITIES[name] ?? entity),
  );

/** A page may name a number that no character has: browsers show this one. */
const character = (code: number): string =>
  code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);

/** An attribute of a tag, such as `name` in ` type="text" name=user`. Without a value, it is empty. */
export function attribute(attributes: string, name: string): string | undefined {
  const all = attributes.matchAll(/([^\s"'=/<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g);
  for (const [, found, double, single, bare] of all) {
    if (found?.toLowerCase() === name) return decode(double ?? single ?? bare ?? '');
  }
  return undefined;
}

interface Element {
  tag: string;
  attributes: string;
  content: string;
}

/** Where the content of an element ends. */
const ENDS: Record<string, RegExp> = {
  form: /<\/form|$/gi,
  textarea: /<\/textarea|$/gi,
  select: /<\/select|$/gi,
  option: /<|$/g,
  // It has none.
  input: /(?:)/g,
};

/**
 * The elements with one of these tags, but for those in another one. Whatever a page has, every tag matches until
 * its end or that of the page: nothing is looked at again for the next one. A quoted value may have a `>`.
 */
function* elementsOf(html: string, ...tags: string[]): Generator<Element> {
  const opening = new RegExp(
    `<(${tags.join('|')})\\b((?:=\\s*"[^"]*(?:"|$)|=\\s*'[^']*(?:'|$)|[^>])*)(?:>|$)`,
    'gi',
  );
  for (let found = opening.exec(html); found !== null; found = opening.exec(html)) {
    const [, name = '', attributes = ''] = found;
    const tag = name.toLowerCase();
    const start = opening.lastIndex;
    const end = ENDS[tag] as RegExp;
    end.lastIndex = start;
    opening.lastIndex = end.exec(html)?.index ?? html.length;
    yield { tag, attributes, content: html.slice(start, opening.lastIndex) };
  }
}

/** The forms of a page: their attributes and what is between their tags. */
export const formsOf = (page: string): Element[] => [...elementsOf(page, 'form')];

/** The fields of a form that a browser sends if nobody presses a button. */
export const fieldsOf = (form: string): [name: string, value: string][] =>
  [...elementsOf(form, 'input', 'textarea', 'select')].flatMap((field) => {
    const name = attribute(field.attributes, 'name');
    if (!name || attribute(field.attributes, 'disabled') !== undefined) return [];
    return valuesOf(field).map((value): [string, string] => [name, value]);
  });

function valuesOf({ tag, attributes, content }: Element): string[] {
  const value = attribute(attributes, 'value');
  if (tag === 'textarea') return [decode(content.replace(/^\r?\n/, ''))];
  if (tag === 'select') return chosenOf(attributes, content);
  const type = attribute(attributes, 'type')?.toLowerCase() ?? 'text';
  if (/^(?:submit|button|image|reset|file)$/.test(type)) return [];
  if (!/^(?:checkbox|radio)$/.test(type)) return [value ?? ''];
  return attribute(attributes, 'checked') === undefined ? [] : [value ?? 'on'];
}

/** The selected options; without one, the first, where only one can be. */
function chosenOf(attributes: string, select: string): string[] {
  const options = [...elementsOf(select, 'option')].map(({ attributes: option, content }) => ({
    isSelected: attribute(option, 'selected') !== undefined,
    value: attribute(option, 'value') ?? decode(content).trim(),
  }));
  const selected = options.filter(({ isSelected }) => isSelected);
  if (attribute(attributes, 'multiple') !== undefined) return selected.map(({ value }) => value);
  return [selected.at(-1) ?? options[0] ?? []].flat().map(({ value }) => value);
}
