/** Its message says what to do. */
export class Refused extends Error {}
