// Measures the service, in parts that are run one after the other.
//
//   --only PART       only this one; may be given several times
//   --quick           in small sizes; the comparison alone unless --only says otherwise; writes nothing
//   --check           ends with exit code 1 where a target is missed
//   --profile         measures nothing, and shows where Latchkey's time goes
//   --mongodb URL     on this server too, in databases of its own
import { parseArgs } from 'node:util';
import { comparison } from './comparison/comparison.ts';
import { latchkey, latchkeyMongodb } from './contenders/latchkey.ts';
import { memory } from './memory/memory.ts';
import { keep, write } from './page.ts';
import type { Part } from './part.ts';
import { profile } from './profile.ts';
import { pinLoad } from './server-process.ts';
import { size } from './size/size.ts';
import { twoProcesses } from './two-processes/two-processes.ts';
import { note, withWorkbench } from './workbench.ts';

/** The parts, by what --only calls them, in the order in which they are run. */
const parts: Record<string, Part> = {
  comparison,
  memory,
  size,
  'two-processes': twoProcesses,
};

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    mongodb: { type: 'string' },
  },
});

const names = options.only ?? (options.quick ? ['comparison'] : Object.keys(parts));
for (const name of names) {
  if (Object.hasOwn(parts, name)) continue;
  note(`There is no part ${name}: --only takes ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}

// Interrupted, it leaves by the way on which the servers are ended and their folders deleted.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
pinLoad();
if (options.profile) {
  for (const contender of options.mongodb ? [latchkey, latchkeyMongodb] : [latchkey]) {
    const text = await profile(contender, options.mongodb);
    process.stdout.write(`\n${contender.name}, codes being issued included\n\n${text}\n`);
  }
} else {
  for (const name of names) {
    const part = parts[name] as Part;
    note(`\n${part.title}`);
    const findings = await withWorkbench(options.mongodb, [], (workbench) =>
      part.measure(workbench, options.quick),
    );
    process.stdout.write(`\n${write(findings)}`);
    if (!options.quick) await keep(part, findings);
    if (options.check && findings.checked.some(({ isMet }) => !isMet)) process.exitCode = 1;
  }
}
