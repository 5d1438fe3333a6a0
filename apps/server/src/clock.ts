/** Milliseconds since 1970-01-01T00:00Z. */
export type Milliseconds = number;

/** Tells the time; tests bring their own. */
export type Clock = () => Milliseconds;
