import type { Limits } from '../../limits/limits.ts';
import { inputMembers, inputShape } from '../../operations/input.ts';
import type { Operation } from '../../operations/operation.ts';
import { OperationCall } from '../../operations/operation-call.ts';
import { validate } from '../../operations/validate.ts';
import type { Service } from '../../service.ts';
import { answerJson } from '../answer.ts';
import type { Authenticate } from '../authenticate.ts';
import { CallerGone, readJson } from '../body.ts';
import type { Exchange } from '../exchange.ts';
import { toDomainError } from '../failure.ts';
import { perform } from '../perform.ts';
import type { PathParameters, Route } from '../route.ts';
import { queryMembers } from './query.ts';

/** Offers an operation on its REST path. The steps are in the order of the contract. */
export function operationRoute(
  operation: Operation,
  service: Service,
  authenticate: Authenticate,
  limits: Limits,
): Route {
  const { method, path, input } = operation;
  const parameterNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const { integers, mayBeEmpty } = inputShape(operation, parameterNames);

  async function take(
    call: OperationCall,
    exchange: Exchange,
    parameters: PathParameters,
    query: string,
  ): Promise<object> {
    call.authenticated(await authenticate(exchange, operation));
    const members =
      method === 'GET'
        ? queryMembers(query, integers)
        : inputMembers(await readJson(exchange), mayBeEmpty);
    // The path names the resource: what the body says of it doesn't count.
    return perform(exchange, limits, call, validate(input, { ...members, ...parameters }));
  }

  return {
    method,
    path,
    operation: operation.name,
    async handle(exchange, parameters, query) {
      const call = new OperationCall(service, operation, exchange.recorded);
      let output: object;
      try {
        output = await take(call, exchange, parameters, query);
      } catch (failure) {
        if (failure instanceof CallerGone) throw failure;
        const error = toDomainError(failure);
        call.refused(error);
        throw error;
      } finally {
        exchange.grant_id = call.grant_id;
      }
      answerJson(exchange, 200, output);
    },
  };
}
