import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { type Operation, operations } from '../operations/operation.ts';
import { validate } from '../operations/validate.ts';
import type { Service } from '../service.ts';

/** The operations of the operator: those that the command line offers. */
export type OperatorOperation = Extract<OperationName, `admin.${string}`>;

/** Calls an operation as the operator, its input validated as on the wire. */
export async function callOperation<Name extends OperatorOperation>(
  service: Service,
  name: Name,
  input: OperationInput<Name>,
): Promise<OperationOutput<Name>> {
  const operation = operations.get(name) as Operation;
  const valid = validate(operation.input, input);
  return (await operation.handle(service, valid, 'operator')) as OperationOutput<Name>;
}
