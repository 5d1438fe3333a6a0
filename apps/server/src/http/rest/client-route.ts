import { DomainError } from '@latchkey/domain/domain-error';
import { isUuid } from '@latchkey/schema';
import { type CallContext, call } from '../../operations/call.ts';
import type { Operation } from '../../operations/operation.ts';
import type { AuthenticateClient } from '../authenticate.ts';
import {
  type BodyFormat,
  isDeclaredAsForm,
  isDeclaredAsJson,
  jsonMembers,
  readBody,
  readJson,
} from '../body.ts';
import type { Challenge } from '../challenge.ts';
import { assertionNames } from '../client-credentials.ts';
import { type Form, formMembers, parseForm } from '../form.ts';
import type { Headers, RequestContext, RequestedCall } from '../request-context.ts';
import { sendJson } from '../response.ts';
import type { Route } from '../router.ts';

type Members = Readonly<Record<string, unknown>>;

export interface ClientEndpoint {
  readonly path: `/${string}`;
  /** Before the body is read, only its format is known. */
  readonly operations: Readonly<Record<BodyFormat, Operation>>;
  choose(members: Members, format: BodyFormat): Operation;
  readonly parameters: readonly string[];
  readonly takesPublic: boolean;
  /** With a JSON body, it is an operation of our own, and no OAuth library makes the request. */
  readonly isOwnInJson?: true;
  readonly challenges: Readonly<Record<BodyFormat, Challenge>>;
  readonly headers?: Headers;
  toBody?(output: object): object;
}

/** A form without an Authorization header is read first: the credentials may be in it. */
export function clientRoute(
  endpoint: ClientEndpoint,
  callContext: CallContext,
  authenticateClient: AuthenticateClient,
): Route {
  const { path, takesPublic, headers = {}, toBody = (output) => output } = endpoint;
  const takesAssertions = callContext.service.linking?.clientDocuments != null;
  const secondNames = takesAssertions ? ['client_secret', ...assertionNames] : ['client_secret'];
  const names = ['client_id', ...secondNames, ...endpoint.parameters];

  return {
    method: 'POST',
    path,
    actions: [...new Set(Object.values(endpoint.operations))],
    async handle(context) {
      const { headers: sent } = context.request;
      const format: BodyFormat = isDeclaredAsForm(sent['content-type']) ? 'form' : 'json';
      const isInForm = format === 'form' && sent.authorization === undefined;
      const { name } = endpoint.operations[format];
      const choose = (members: object) => endpoint.choose(members as Members, format);
      context.challenge = endpoint.challenges[format];
      context.asksForForm = !(endpoint.isOwnInJson && isDeclaredAsJson(sent['content-type']));
      context.routeHeaders = headers;

      let form: Promise<Form> | undefined;
      const readFormOnce = () => {
        form ??= readForm(context);
        return form;
      };
      let client_id = '';

      const output = await call(callContext, { name, caller: 'application', choose } as const, {
        async authenticate() {
          const readForm = isInForm ? readFormOnce : null;
          const client = await authenticateClient(context, { readForm, takesPublic });
          const { id, document } = client.application;
          client_id = document?.uri ?? id;
          return client;
        },
        async readInput() {
          const members =
            format === 'form'
              ? formMembers(await readFormOnce(), names)
              : (jsonMembers(await readJson(context), false) as Members);
          if (!isInForm) refuseOtherCredentials(members, client_id, secondNames);
          return members;
        },
        authenticatesInBody: isInForm,
        request: context,
        summary: context.calls[0] as RequestedCall,
      });
      sendJson(context, 200, toBody(output));
    },
  };
}

async function readForm(context: RequestContext): Promise<Form> {
  const body = await readBody(context, ['form']);
  return body === undefined ? new Map() : parseForm(body.bytes);
}

/** Two ways to authenticate could disagree about who the client is (RFC 6749, section 2.3). */
function refuseOtherCredentials(members: Members, own: string, secondNames: readonly string[]) {
  const { client_id } = members;
  const isOwn =
    client_id === own ||
    (typeof client_id === 'string' && isUuid(own) && client_id.toLowerCase() === own);
  const issues = [
    ...(client_id === undefined || isOwn ? [] : [{ path: ['client_id'], message: OTHER_CLIENT }]),
    ...secondNames
      .filter((name) => members[name] !== undefined)
      .map((name) => ({ path: [name], message: SECOND_SECRET })),
  ];
  if (issues.length > 0) throw new DomainError('parameter_invalid', { issues });
}

const OTHER_CLIENT = 'Must be left out, or be the client of the Authorization header.';
const SECOND_SECRET = 'Must be left out, since there is an Authorization header.';
