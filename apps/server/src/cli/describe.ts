import { type Member, meaningOfNull, yesOrNo } from './member.ts';
import { fieldList } from './table.ts';

export const SHOWN_ONCE =
  'The secret is shown only once. Store it where the application reads its secrets:';

/** What comes last, so that it can be copied. */
const LAST: Readonly<Record<string, string>> = {
  secret: SHOWN_ONCE,
  redirect_to: 'Send the browser to:',
};

const titleOf = (name: string) => name.replaceAll('_', ' ').replace(/\buri/, 'URI');

/** @param members - of the output: they say what a null means */
export function describeObject(output: object, members: readonly Member[]): string {
  const byName = new Map(members.map((member) => [member.name, member]));
  const entries = Object.entries(output).filter(([name]) => name !== 'object');
  const fields = entries
    .filter(([name]) => LAST[name] === undefined)
    .flatMap(([name, value]) =>
      textsOf(value, byName.get(name)).map((text) => [titleOf(name), text] as const),
    );
  const last = entries.flatMap(([name, value]) =>
    LAST[name] === undefined || value === null ? [] : [LAST[name], String(value)],
  );
  return [fieldList(fields), ...last].join('\n');
}

/** Each item of a list is a line. */
function textsOf(value: unknown, member: Member | undefined): string[] {
  if (Array.isArray(value))
    return value.length === 0 ? ['none'] : value.map((item) => textOf(item));
  return [value === null && member !== undefined ? meaningOfNull(member) : textOf(value)];
}

function textOf(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return yesOrNo(value);
  if (Array.isArray(value)) return value.map(textOf).join(' ') || 'none';
  if (typeof value !== 'object') return String(value);
  const parts = Object.entries(value).filter(([name, part]) => name !== 'object' && part !== null);
  return parts.map(([name, part]) => `${titleOf(name)} ${textOf(part)}`).join(', ') || 'none';
}
