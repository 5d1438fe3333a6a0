import type { Terminal } from './terminal.ts';

/** For a command that is no operation. */
export async function print(
  { stdout }: Terminal,
  json: boolean | undefined,
  object: object,
  text: string,
): Promise<void> {
  await stdout.write(`${json ? JSON.stringify(object) : text}\n`);
}
