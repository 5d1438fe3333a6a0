import type { Finding } from '@latchkey/store/finding';
import type { Command } from 'commander';
import { addExamples } from './command-tree.ts';
import type { Terminal } from './terminal.ts';

export function addDoctorCommand(command: Command, terminal: Terminal): void {
  command
    .option('--deep', 'SQLite: check the whole file, indexes too, however long it takes')
    .option('--json', 'print JSON')
    .action((options) => doctor(terminal, options));
  addExamples(
    command,
    'doctor',
    'doctor --deep',
    'doctor --json | jq \'.data[] | select(.level == "problem")\'',
  );
}

async function doctor(
  { environment, stdout, showStep }: Terminal,
  { json, deep = false }: { json?: boolean; deep?: boolean },
): Promise<void> {
  const { examine } = await import('../doctor/examine.ts');
  const data: Finding[] = [];
  for await (const finding of examine(environment, { deep, onStep: showStep })) {
    data.push(finding);
    showStep?.();
    if (!json) await stdout.write(`${describe(finding)}\n`);
  }
  const problems = data.filter(({ level }) => level === 'problem').length;
  if (json) {
    const result = problems === 0 ? 'ok' : 'problem';
    await stdout.write(`${JSON.stringify({ object: 'doctor', result, data })}\n`);
  }
  if (problems === 1) throw new Error('There is 1 problem.');
  if (problems > 1) throw new Error(`There are ${problems} problems.`);
}

const LEVEL_WIDTH = 'problem'.length + 2;
const CHECK_WIDTH = 'write_concern'.length + 2;

function describe({ check, level, found, advice }: Finding): string {
  const start = `${level.padEnd(LEVEL_WIDTH)}${check.replace('_', ' ').padEnd(CHECK_WIDTH)}`;
  const todo = advice === null ? '' : `\n${' '.repeat(start.length)}→ ${advice}`;
  return `${start}${found}${todo}`;
}
