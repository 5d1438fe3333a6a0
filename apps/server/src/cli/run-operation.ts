import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { operations } from '../operations/operation.ts';
import { validate } from '../operations/validate.ts';
import type { Service } from '../service.ts';
import { withService } from './with-service.ts';

/** The operations of the operator: those that the command line offers. */
export type OperatorOperation = Extract<OperationName, `admin.${string}`>;

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
  await withService(environment, async (service: Service) => {
    const operation = operations.get(name);
    if (operation === undefined) throw new Error(`There is no operation ${name}.`);
    const valid = validate(operation.input, input);
    const output = (await operation.handle(service, valid, 'operator')) as OperationOutput<Name>;
    process.stdout.write(`${options.json ? JSON.stringify(output) : describe(output)}\n`);
  });
}
