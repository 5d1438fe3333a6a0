import { run } from './service.ts';

const packages = {
  python3: 'Python 3 (Debian and Ubuntu: apt-get install python3; macOS: brew install python3)',
  curl: 'curl (Debian and Ubuntu: apt-get install curl; macOS: brew install curl)',
  bash: 'bash (Debian and Ubuntu: apt-get install bash)',
} as const;

/** Programs that examples are written for. */
export type Tool = keyof typeof packages;

/**
 * Fails where a tool is missing. Not a skip: nobody would notice that the examples are not run.
 *
 * @throws Error that says what to install
 */
export async function requireTools(
  tools: readonly Tool[],
  env: Record<string, string>,
): Promise<void> {
  for (const tool of tools) {
    const { exitCode } = await run(tool, ['--version'], { env }).catch(() => ({ exitCode: null }));
    if (exitCode !== 0) {
      throw new Error(
        `The examples need ${tool}, which does not run here. Install ${packages[tool]}.`,
      );
    }
  }
}
