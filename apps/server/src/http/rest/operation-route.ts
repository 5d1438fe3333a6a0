import type { Limits } from '../../limits/limits.ts';
import { inputMembers, inputShape } from '../../operations/input.ts';
import type { Operation } from '../../operations/operation.ts';
import { validate } from '../../operations/validate.ts';
import type { Service } from '../../service.ts';
import { answerJson } from '../answer.ts';
import type { Authenticate } from '../authenticate.ts';
import { readJson } from '../body.ts';
import { perform } from '../perform.ts';
import type { Route } from '../route.ts';
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

  return {
    method,
    path,
    operation: operation.name,
    async handle(exchange, parameters, query) {
      const caller = await authenticate(exchange, operation);
      const members =
        method === 'GET'
          ? queryMembers(query, integers)
          : inputMembers(await readJson(exchange), mayBeEmpty);
      // The path names the resource: what the body says of it doesn't count.
      const valid = validate(input, { ...members, ...parameters });
      answerJson(exchange, 200, await perform(operation, service, limits, valid, caller));
    },
  };
}
