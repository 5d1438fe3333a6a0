import type { Caller, OperationContract } from '@latchkey/schema';
import type { ActionName, Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { AnyCaller, CallDetails } from './handler.ts';

/** What a call carries out: an operation, or what somebody does in a browser. */
export interface Action<Output extends object = object>
  extends Pick<OperationContract, 'method' | 'input' | 'readOnly'> {
  readonly name: ActionName;
  readonly caller: Caller | 'user';
  /** Takes only an input that its schema has returned and a caller of its kind. */
  handle(
    service: Service,
    input: unknown,
    caller: AnyCaller,
    initiator: Initiator,
    details?: CallDetails,
  ): Promise<Output>;
}
