/** What is left of something that has ended, by the state of the answer. */
const rests = {
  erasing: 'Some of its data is still stored',
  deleting: 'Not all of its grants are written down as revoked yet',
  revoking: 'Not all of it is written down yet',
} as const;

/** Empty if nothing is left. */
export const restOf = (state: keyof typeof rests | 'erased' | 'deleted' | 'revoked'): string =>
  state in rests
    ? `\nThe state is ${state}: ${rests[state as keyof typeof rests]}. A running service does the rest.`
    : '';

/** "1 grant is revoked.", "2 grants are revoked." */
export const areEnded = (count: number, what: string, how: string): string =>
  `${count} ${count === 1 ? `${what} is` : `${what}s are`} ${how}.`;
