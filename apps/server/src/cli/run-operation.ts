import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { callOperation, type OperatorOperation } from './call-operation.ts';
import { withService } from './with-service.ts';

/** How a command prints its result for a person. */
export type Describe<Name extends OperationName> = (output: OperationOutput<Name>) => string;

/**
 * Runs an operation on the database and prints what it returns.
 *
 * @param options.json - print exactly the object of the wire instead of a text
 */
export async function runOperation<Name extends OperatorOperation>(
  environment: NodeJS.ProcessEnv,
  name: Name,
  input: OperationInput<Name>,
  options: { json?: boolean },
  describe: Describe<Name>,
): Promise<void> {
  await withService(environment, async (service) => {
    const output = await callOperation(service, name, input);
    process.stdout.write(`${options.json ? JSON.stringify(output) : describe(output)}\n`);
  });
}
