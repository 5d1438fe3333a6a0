import { parseArgs } from 'node:util';

/** What a run is asked for cannot be done; the message says what to write instead. */
export class WrongOptions extends Error {
  override readonly name = 'WrongOptions';
}

const known = {
  only: { type: 'string', multiple: true },
  quick: { type: 'boolean', default: false },
  check: { type: 'boolean', default: false },
  profile: { type: 'boolean', default: false },
  against: { type: 'string' },
  pairs: { type: 'string' },
  output: { type: 'string' },
  mongodb: { type: 'string' },
} as const;

/** How many pairs `--against` measures, if `--pairs` does not say. */
const PAIRS = 15;
/** Where it writes to, if `--output` does not say. Git ignores it. */
const OUTPUT = 'benchmarks/against.md';

/** What a run does, and on which MongoDB. */
export type Options = { mongodb: string | undefined } & (
  | { task: 'benchmarks'; names: string[]; quick: boolean; check: boolean }
  | { task: 'profile' }
  | { task: 'against'; path: string; pairs: number; output: string }
);

/** @param benchmarks - the names of all */
export function readOptions(args: string[], benchmarks: readonly string[]): Options {
  const { only, quick, check, profile, against, pairs, output, mongodb } = parse(args);
  if (against === undefined) {
    const stray = pairs === undefined ? output !== undefined && 'output' : 'pairs';
    if (stray) throw new WrongOptions(`--${stray} needs --against PATH beside it.`);
    if (profile) return { task: 'profile', mongodb };
    const names = only ?? (quick ? ['comparison'] : [...benchmarks]);
    const unknown = names.find((name) => !benchmarks.includes(name));
    if (unknown === undefined) return { task: 'benchmarks', names, quick, check, mongodb };
    throw new WrongOptions(
      `There is no benchmark '${unknown}'. Use --only with one of: ${benchmarks.join(', ')}.`,
    );
  }
  const others = { only, quick, check, profile };
  for (const [name, value] of Object.entries(others)) {
    if (value) throw new WrongOptions(`--against runs alone: leave --${name} out.`);
  }
  const count = pairs === undefined ? PAIRS : Number(pairs);
  if (!Number.isInteger(count) || count < 2) {
    throw new WrongOptions(
      `--pairs takes a whole number of at least 2, since one pair has no interval. Without it, there are ${PAIRS}.`,
    );
  }
  return { task: 'against', path: against, pairs: count, output: output ?? OUTPUT, mongodb };
}

function parse(args: string[]) {
  try {
    return parseArgs({ args, options: known }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // What Node adds is about programs that take more than options.
    const [fault] = error.message.split(/\.? To specify|\. This command/);
    const names = Object.keys(known).map((name) => `--${name}`);
    throw new WrongOptions(`${fault}. There are these options: ${names.join(', ')}.`);
  }
}
