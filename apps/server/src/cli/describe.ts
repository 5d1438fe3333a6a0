import { type Members, meaningOfNull, yesOrNo } from './member.ts';
import { GAP } from './table.ts';

/** What comes last, so that it can be copied. */
const LAST: Readonly<Record<string, string>> = {
  secret: 'The secret is shown only once. Store it where the application reads its secrets:',
  redirect_to: 'Send the browser to:',
};

const titleOf = (name: string) => name.replaceAll('_', ' ').replace(/\buri/, 'URI');

/** @param members - of the output: they say what a null means */
export function describeObject(output: object, members: Members): string {
  const fields: [name: string, value: string][] = [];
  const last: string[] = [];
  for (const [name, value] of Object.entries(output)) {
    if (name === 'object') continue;
    const title = titleOf(name);
    if (LAST[name] !== undefined) {
      if (value !== null) last.push(LAST[name], String(value));
    } else if (Array.isArray(value) && value.length > 0) {
      // Each item of a list is a line.
      for (const item of value) fields.push([title, textOf(item)]);
    } else {
      const member = value === null && members.get(name);
      fields.push([title, member ? meaningOfNull(member) : textOf(value)]);
    }
  }
  return [fieldList(fields), ...last].join('\n');
}

function textOf(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value === 'boolean') return yesOrNo(value);
  if (Array.isArray(value)) return value.map(textOf).join(' ') || 'none';
  if (typeof value !== 'object') return String(value);
  const parts: string[] = [];
  for (const [name, part] of Object.entries(value)) {
    if (name !== 'object' && part !== null) parts.push(`${titleOf(name)} ${textOf(part)}`);
  }
  return parts.join(', ') || 'none';
}

/** Each is a line. */
export function fieldList(fields: readonly (readonly [name: string, value: string])[]): string {
  let width = 0;
  for (const [name] of fields) width = Math.max(width, name.length + GAP.length);
  let lines = '';
  for (const [name, value] of fields) lines += `${lines && '\n'}${name.padEnd(width)}${value}`;
  return lines;
}
