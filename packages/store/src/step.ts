/** What takes long, for the person who waits for it. */
export interface Step {
  /** What is done now, such as `checking the copy`. */
  text: string;
  /** How much of it is done, between 0 and 1. Default: it is not known. */
  share?: () => number;
}

export type OnStep = (step: Step) => void;
