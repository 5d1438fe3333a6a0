import { runProgram } from '../program.ts';
import type { Records } from './records.ts';
import { setUp } from './rules.ts';
import { bareListener } from './server.ts';

/** The program of a bare contender: the rules on `node:http`, over records of some kind. */
export function runBare(records: Records): Promise<void> {
  return runProgram(async () => {
    const { secret, issue } = await setUp(records);
    return { listener: bareListener(records), issue, about: secret };
  });
}
