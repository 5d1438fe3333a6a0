/**
 * The same text, alone in memory. V8 keeps all of a text for a part that was cut from it: the whole URL, or header,
 * of a request for a few characters that stay.
 */
export const ownText = (text: string): string => Buffer.from(text).toString();
