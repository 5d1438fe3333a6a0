type Reviver = (key: string, value: unknown) => unknown;

/**
 * The linter refuses `JSON.parse` where a text comes from outside: its result has any type that somebody
 * asks for.
 *
 * @throws SyntaxError
 */
export const decodeJson: (text: string, reviver?: Reviver) => unknown = JSON.parse;
