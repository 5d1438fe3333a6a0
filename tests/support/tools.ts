import { existsSync } from 'node:fs';
import { describe, test } from 'vitest';
import { environment, run } from './service.ts';

/** The path of the JSON library for the Java example, on Debian and Ubuntu. */
export const GSON = '/usr/share/java/gson.jar';

const works = (program: string, word: string) => async () => {
  const ended = run(program, [word], { env: environment() });
  return (await ended.catch(() => null))?.exitCode === 0;
};

/** The programs that tests need: how to detect and how to install them. */
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
  promtool: {
    there: works('promtool', '--version'),
    install: 'promtool (Debian and Ubuntu: apt-get install prometheus)',
  },
  'apt-get': {
    there: works('apt-get', '--version'),
    install: 'apt-get, on Debian or Ubuntu',
  },
  'systemd-analyze': {
    there: works('systemd-analyze', '--version'),
    install: 'systemd-analyze (Debian and Ubuntu: apt-get install systemd)',
  },
};

export type Tool = keyof typeof tools;

/** Returns the tools that are missing. */
export async function missingTools(names: readonly Tool[]): Promise<Tool[]> {
  const there = await Promise.all(names.map((name) => tools[name].there()));
  return names.filter((_, index) => !there[index]);
}

/**
 * Fails if a tool is missing. It does not skip: nobody would notice that the examples are not run.
 *
 * @throws Error that says what to install
 */
export async function requireTools(names: readonly Tool[]): Promise<void> {
  const missing = await missingTools(names);
  if (missing.length === 0) return;
  const [install] = missing.map((name) => tools[name].install);
  throw new Error(`This test needs ${missing.join(', ')}. Install ${install}.`);
}

/**
 * Runs a suite that needs a tool. Without the tool, it is reported as not run; in CI it fails, since
 * nobody would notice.
 */
export async function describeWith(name: Tool, suite: () => void): Promise<void> {
  if (process.env.CI) await requireTools([name]);
  const [missing] = await missingTools([name]);
  if (missing === undefined) describe(name, suite);
  else describe.skip(`${name} (not run: install ${tools[missing].install})`, () => test('passes'));
}
