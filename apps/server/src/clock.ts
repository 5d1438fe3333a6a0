/** Milliseconds since 1970-01-01T00:00Z. */
export type Milliseconds = number;

/** Returns the current time. Tests use their own clock. */
export type Clock = () => Milliseconds;
