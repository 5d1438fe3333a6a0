/** The user has to change an option. */
export class WrongOption extends Error {
  override readonly name = 'WrongOption';
}

/** @throws WrongOption */
export function urlOf(text: string, option: string): URL {
  if (URL.canParse(text)) return new URL(text);
  throw new WrongOption(`${option} needs a whole URL.`);
}
