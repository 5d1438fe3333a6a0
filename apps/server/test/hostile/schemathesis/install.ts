import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';

const requirements = fileURLToPath(new URL('./requirements.txt', import.meta.url));

/** Installs schemathesis. Resolves to the path of the Python that has it. */
export async function installSchemathesis(env: NodeJS.ProcessEnv): Promise<string> {
  return join(await installFromRequirements(requirements, 'schemathesis', env), 'python');
}
