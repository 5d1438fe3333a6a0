import { dirname } from 'node:path';
import { environment, succeed } from './program.ts';

/**
 * Runs goals of a `pom.xml`. What they need comes from Maven Central with checked checksums, and stays in
 * Maven's own cache.
 *
 * @returns the version of Java, as in `Java 21.0.2`
 * @throws Unavailable if there is no Maven or no Java
 */
export async function maven(pom: string, goals: readonly string[]): Promise<string> {
  const install = 'Java and Maven (on Debian: apt-get install default-jdk-headless maven)';
  const options = { cwd: dirname(pom), env: environment(), install };
  const version = await succeed('java', ['--version'], options);
  const flags = ['--batch-mode', '--quiet', '--strict-checksums', '--file', pom];
  await succeed('mvn', [...flags, ...goals], options);
  return `Java ${/\d+(\.\d+)*/.exec(version)?.[0]}`;
}
