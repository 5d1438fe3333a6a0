/** How the pages look as a part of the host service. */
export interface PageTheme {
  /** The name of the host service. */
  readonly name: string;
  /** The address of its logo, `https:` or `data:`; null shows its initials. */
  readonly logo: string | null;
  /** The colour of buttons and links, `#rrggbb`. */
  readonly color: string;
}
