import { open, rm, writeFile } from 'node:fs/promises';
import { junitOf } from './report/junit.ts';
import { markdownOf } from './report/markdown.ts';
import type { Report } from './run.ts';
import { WrongOption } from './wrong-option.ts';

const formats = {
  markdown: markdownOf,
  json: (report: Report) => `${JSON.stringify(report, null, 2)}\n`,
  junit: junitOf,
};

/** A file that gets the report. */
interface Output {
  option: string;
  file: string;
  format: (report: Report) => string;
}

export const outputsOf = (files: { [option in keyof typeof formats]?: string }): Output[] =>
  Object.entries(formats).flatMap(([option, format]) => {
    const file = files[option as keyof typeof formats];
    return file === undefined ? [] : [{ option, file, format }];
  });

/**
 * Finds out before a long run whether a file can be written after it. Leaves everything as it was.
 *
 * @throws WrongOption
 */
export async function checkFile(output: Output): Promise<void> {
  const { file } = output;
  try {
    const created = await open(file, 'ax').catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await (created ?? (await open(file, 'a'))).close();
    if (created) await rm(file);
  } catch (error) {
    throw new WrongOption(`${unwritable(output, error)} Name a file in a folder that exists.`);
  }
}

/** Returns whether all of them could be written. The others are named. */
export async function writeFiles(outputs: readonly Output[], report: Report): Promise<boolean> {
  let areWritten = true;
  for (const output of outputs) {
    await writeFile(output.file, output.format(report)).catch((error) => {
      areWritten = false;
      process.stderr.write(`${unwritable(output, error)} The table has the same rows.\n`);
    });
  }
  return areWritten;
}

const unwritable = ({ option, file }: Output, error: unknown): string =>
  `--${option} '${file}' can't be written (${(error as NodeJS.ErrnoException).code}).`;
