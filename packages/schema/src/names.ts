const JOINERS = String.raw`\u200c\u200d`;
const SELECTORS = String.raw`\ufe0e\ufe0f`;
const HIDDEN = String.raw`\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800`;
const SHOWN = String.raw`[^${HIDDEN}\p{Z}\p{M}]`;
const TAGS = String.raw`[\u{e0020}-\u{e007e}]+\u{e007f}`;
const MARK = String.raw`(?:(?![${HIDDEN}])\p{M}|[${SELECTORS}])`;
// A mark belongs to the character before it.
const CHARACTER = `${SHOWN}${MARK}*`;
const STACKED = String.raw`[\p{Mn}\p{Me}]`;

const shown = new RegExp(SHOWN, 'u');
const hidden = new RegExp(`(${CHARACTER}${TAGS})|(?![${JOINERS}${SELECTORS}])[${HIDDEN}]`, 'gu');
// Behind a joiner, a mark shows too: Bengali writes U+09B0 U+200D U+09CD.
const unattached = new RegExp(
  `(${CHARACTER}(?:${TAGS})?(?:[${JOINERS}](?=${SHOWN}|(?![${HIDDEN}])\\p{M}))?)|[${JOINERS}${SELECTORS}]`,
  'gu',
);
const piledUp = new RegExp(`(${STACKED}{4})${STACKED}+`, 'gu');

/**
 * Takes out what shows nothing, and the marks behind four in a row. Joiners stay between two
 * characters, selectors behind one, and the tags of emoji flags. A text that shows nothing is empty.
 *
 * @returns the rest in Unicode's form NFC
 */
export function seenPart(text: string): string {
  const seen = text
    // Some characters are several in NFC. The marks are counted in this form.
    .normalize('NFC')
    .replace(hidden, '$1')
    // What was beside a hidden character now has other neighbours.
    .replace(unattached, '$1')
    .replace(piledUp, '$1')
    .normalize('NFC');
  return shown.test(seen) ? seen : '';
}

/** Whether an operator can see all of a text. Tags show nothing where a font has no such flag. */
export const isSeen = (text: string): boolean =>
  seenPart(text) === text && !text.includes('\u{e007f}');
