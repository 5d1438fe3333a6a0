/**
 * The members of a query. One that is given twice becomes a list, which no schema takes: which of
 * the two was meant is not ours to guess.
 *
 * @param integers - members that are whole numbers
 */
export function queryMembers(query: string, integers: ReadonlySet<string>): object {
  if (query === '') return {};
  const parameters = new URLSearchParams(query);
  const members = [...new Set(parameters.keys())].map((name) => {
    const values = parameters
      .getAll(name)
      .map((value) => (integers.has(name) ? number(value) : value));
    return [name, values.length === 1 ? values[0] : values];
  });
  return Object.fromEntries(members);
}

/** A whole number where it is written as one; the schema refuses the rest. */
function number(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
