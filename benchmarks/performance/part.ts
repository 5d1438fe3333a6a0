import type { Checked } from './checked.ts';
import type { Workbench } from './workbench.ts';

/** What a part of the benchmark found. */
export interface Findings {
  /** Under which it was measured: sizes, versions. */
  conditions: string[];
  /** Its tables, in Markdown. */
  text: string;
  checked: Checked[];
  plot?: { about: string; svg: string };
}

/** A part of the benchmark, which can be run by itself. */
export interface Part {
  /** The name of its page in `results`. */
  page: string;
  title: string;
  /** @param quick - in small sizes, for the one who changes something */
  measure(workbench: Workbench, quick: boolean): Promise<Findings>;
}
