/** What moves the cursor of a terminal, or turns the direction of a line. */
const MOVING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/** A text from elsewhere, for a terminal: what the terminal would follow is an escape. */
export const stillText = (text: string): string => text.replace(MOVING, escaped);

const escaped = (character: string) =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
