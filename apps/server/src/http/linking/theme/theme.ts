export interface PageTheme {
  readonly name: string;
  /** `https:` or `data:`; null shows the initials. */
  readonly logo: string | null;
  /** Where the users of the host start; null if nobody knows. */
  readonly home: string | null;
  readonly color: string;
}
