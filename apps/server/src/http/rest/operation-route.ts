import { type CallContext, call } from '../../operations/call.ts';
import { type InputShape, inputShape } from '../../operations/input.ts';
import type { Operation } from '../../operations/operation.ts';
import { StreamedOutput } from '../../operations/streamed-output.ts';
import type { Authenticate } from '../authenticate.ts';
import { jsonMembers, readJson } from '../body.ts';
import { bearerChallenge, resourceChallenge } from '../challenge.ts';
import type { RequestedCall } from '../request-context.ts';
import { sendJson, sendPieces } from '../response.ts';
import type { Route } from '../router.ts';

export function operationRoute(
  operation: Operation,
  callContext: CallContext,
  authenticate: Authenticate,
): Route {
  const { method, path } = operation;
  const parameterNames = [...path.matchAll(/\{(\w+)\}/g)].map(([, one]) => one as string);
  const shape = inputShape(operation, parameterNames);

  const challenge =
    operation.caller === 'grant' ? resourceChallenge(callContext.service.linking) : bearerChallenge;

  return {
    method,
    path,
    actions: [operation],
    async handle(context, parameters, query) {
      context.challenge = challenge;
      const output = await call(callContext, operation, {
        authenticate: () => authenticate(context, operation),
        async readInput() {
          const members =
            method === 'GET'
              ? queryMembers(query, shape)
              : jsonMembers(await readJson(context), shape.mayBeEmpty);
          // The path names the resource, whatever the body says.
          return { ...members, ...parameters };
        },
        request: context,
        summary: context.calls[0] as RequestedCall,
      });
      if (output instanceof StreamedOutput) await sendPieces(context, output.pieces());
      else sendJson(context, 200, output);
    },
  };
}

/** A repeated member becomes a list, which no schema accepts: which value was meant is unknown. */
function queryMembers(query: string, { integers, booleans }: InputShape): object {
  if (query === '') return {};
  // One pass, because a query has room for thousands of names.
  const members = new Map<string, unknown[]>();
  for (const [name, text] of new URLSearchParams(query)) {
    const value = integers.has(name)
      ? parseInteger(text)
      : booleans.has(name)
        ? parseBoolean(text)
        : text;
    const values = members.get(name);
    if (values === undefined) members.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(
    [...members].map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

const parseBoolean = (text: string) =>
  text === 'true' || text === 'false' ? text === 'true' : text;

function parseInteger(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}
