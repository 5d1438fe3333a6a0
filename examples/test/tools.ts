import { existsSync } from 'node:fs';
import { environment, run } from './service.ts';

/** Where Debian and Ubuntu put the library that the example in Java reads JSON with. */
export const GSON = '/usr/share/java/gson.jar';

const works = (program: string, word: string) => async () => {
  const ended = run(program, [word], { env: environment() });
  return (await ended.catch(() => null))?.exitCode === 0;
};

/** Programs that examples are written for: whether they are there, and how to get them. */
const tools = {
  python3: {
    there: works('python3', '--version'),
    install: 'Python 3 (Debian and Ubuntu: apt-get install python3; macOS: brew install python3)',
  },
  curl: {
    there: works('curl', '--version'),
    install: 'curl (Debian and Ubuntu: apt-get install curl; macOS: brew install curl)',
  },
  bash: {
    there: works('bash', '--version'),
    install: 'bash (Debian and Ubuntu: apt-get install bash)',
  },
  go: {
    there: works('go', 'version'),
    install: 'Go (Debian and Ubuntu: apt-get install golang-go; macOS: brew install go)',
  },
  javac: {
    there: works('javac', '--version'),
    install: 'a JDK (Debian and Ubuntu: apt-get install default-jdk-headless)',
  },
  gson: {
    there: async () => existsSync(GSON),
    install: `Gson as ${GSON} (Debian and Ubuntu: apt-get install libgoogle-gson-java)`,
  },
};

export type Tool = keyof typeof tools;

/** Those of the tools that do not run here. */
export async function missingTools(names: readonly Tool[]): Promise<Tool[]> {
  const there = await Promise.all(names.map((name) => tools[name].there()));
  return names.filter((_, index) => !there[index]);
}

/**
 * Fails where a tool is missing. Not a skip: nobody would notice that the examples are not run.
 *
 * @throws Error that says what to install
 */
export async function requireTools(names: readonly Tool[]): Promise<void> {
  const missing = await missingTools(names);
  if (missing.length === 0) return;
  const [install] = missing.map((name) => tools[name].install);
  throw new Error(`The examples need ${missing.join(', ')}. Install ${install}.`);
}
