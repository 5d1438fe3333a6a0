export interface PageTheme {
  readonly name: string;
  /** `https:` or `data:`; null shows the initials. */
  readonly logo: string | null;
  readonly color: string;
}
