import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { newId } from '../credentials/credentials.ts';
import { DomainError } from '../domain-error.ts';
import { type Operation, operations } from '../operations/operation.ts';
import { OperationCall } from '../operations/operation-call.ts';
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
  const request = { request_id: newId(service.clock()), address: null };
  const call = new OperationCall(service, operation, request);
  call.authenticated('operator', 'command_line');
  try {
    const output = await call.perform(validate(operation.input, input));
    return output as OperationOutput<Name>;
  } catch (error) {
    // Where the store does not answer, it would not take the refusal either, and the command would
    // wait for it once more.
    if (error instanceof DomainError && error.code !== 'store_unavailable') call.refused(error);
    throw error;
  }
}
