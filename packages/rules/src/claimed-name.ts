/** In quotation marks, it stays a name at a glance, on every screen. */
export const MAX_CLAIMED_NAME = 40;

/** They would end the quotation, or the sentence that it stands in. */
const QUOTATION_OR_STOP = /["\p{Pi}\p{Pf}„‚…。！？；：，]/u;
// A mark or a joiner on it, such as a variation selector, may show nothing.
const STOP_BEFORE_SPACE = /[.,;:!?][\p{M}\u200c\u200d]*(?:\p{Z}|$)/u;

/** Of fewer letters, too many other names would contain it. */
const LEAST_COMPARED = 3;

/** Whether pages may say that a stranger calls itself so (`docs/protocol/clients.md#the-name-that-a-stranger-claims`). */
export function mayClaim(name: string, pageName: string): boolean {
  if (name === '' || [...name].length > MAX_CLAIMED_NAME) return false;
  if (QUOTATION_OR_STOP.test(name) || STOP_BEFORE_SPACE.test(name)) return false;
  const own = lettersOf(pageName);
  return [...own].length < LEAST_COMPARED || !lettersOf(name).includes(own);
}

const lettersOf = (text: string): string =>
  text
    // A joiner or a selector would part a mark from its letter, and show nothing.
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    // Which of the two it is depends on what follows.
    .replaceAll('ς', 'σ')
    .replace(/[^\p{L}\p{N}]/gu, '');
