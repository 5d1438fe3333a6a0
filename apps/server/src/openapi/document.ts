import { DomainError } from '@latchkey/domain/domain-error';
import {
  type ErrorCode,
  errorCodes,
  errorDefinition,
  events,
  type OperationContract,
  operations,
} from '@latchkey/schema';
import { z } from 'zod';
import { errorBody } from '../operations/error-body.ts';
import { ABOUT, FLOW } from './about.ts';
import { errorsOf } from './errors.ts';
import { type Example, exampleOf } from './examples.ts';
import {
  authorization,
  FORM,
  metadataPaths,
  registrationPaths,
  tokenContract,
  withCredentials,
} from './oauth-paths.ts';
import { securityOf, securitySchemes } from './security.ts';
import { type DescribedOperation, sharedOperation } from './shared-operation.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

const COMPONENTS = '#/components/schemas/';

function forClients({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  // Only ECMAScript has surrogates in patterns. Go, Rust and Python refuse to compile them.
  if (jsonSchema.pattern?.includes('\\ud800')) {
    delete jsonSchema.pattern;
    jsonSchema.description ??= 'Without control characters.';
  }
}

function outputForClients({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  // A newer service may send more members.
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  forClients({ jsonSchema });
}

function componentSchemas(): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(z.globalRegistry, {
    uri: (id) => COMPONENTS + id,
    override: outputForClients,
  });
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([id]) => !ofMessages.has(id))
      .map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  );
}

/** No operation returns the messages of events. */
const ofMessages = new Set(
  Object.values<unknown>(events).map(
    (schema) => schema instanceof z.ZodType && z.globalRegistry.get(schema)?.id,
  ),
);

const requestId = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  // Without a pattern: another one is not refused.
  description:
    'The id of the request in the log of the service: 1 to 128 of `A-Za-z0-9._-`. In place of any other, the service makes one.',
  schema: { type: 'string' },
};

function inputParts(
  { method, path, input, takesForm = false }: OperationContract,
  example: object,
) {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = z.toJSONSchema(input, {
    io: 'input',
    override: forClients,
  });
  const examples = new Map(Object.entries(example));
  const place = (name: string) => {
    if (path.includes(`{${name}}`)) return 'path';
    return method === 'GET' ? 'query' : 'body';
  };
  const parameters = Object.entries(properties)
    .filter(([name]) => place(name) !== 'body')
    .map(([name, schema]) => ({
      name,
      in: place(name),
      required: required.includes(name),
      schema,
      ...(examples.has(name) && { example: examples.get(name) }),
    }));
  const body = Object.entries(properties).filter(([name]) => place(name) === 'body');
  if (body.length === 0) return { parameters };
  const bodyRequired = required.filter((name) => place(name) === 'body');
  const json = {
    schema: {
      type: 'object',
      properties: Object.fromEntries(body),
      required: bodyRequired,
      ...(additionalProperties === false && { additionalProperties }),
    },
    example: Object.fromEntries(
      body.filter(([name]) => examples.has(name)).map(([name]) => [name, examples.get(name)]),
    ),
  };
  const content: Record<string, typeof json> = takesForm
    ? { 'application/json': json, [FORM]: withCredentials(json) }
    : { 'application/json': json };
  // With two kinds of body, openapi-python-client leaves out an import unless a parameter is optional.
  return {
    parameters: takesForm ? [...parameters, requestId] : parameters,
    requestBody: { required: bodyRequired.length > 0, content },
  };
}

function exampleError(
  code: ErrorCode,
  { caller, takesForm = false }: OperationContract,
  { errors }: Example,
) {
  const context = {
    publicUrl: () => 'https://latchkey.example',
    requestId: '0193aa00-0000-7000-8000-0000000000ff',
    asksForForm: takesForm,
  };
  return {
    summary: errorDefinition(code).title,
    value: errorBody(context, new DomainError(code, errors?.[code]), caller),
  };
}

function responses(
  operation: OperationContract,
  example: Example,
): DescribedOperation['responses'] {
  const errors = errorsOf(operation);
  const statuses = [...new Set(errors.map((code) => errorDefinition(code).status))].sort();
  const failures = statuses.map((status) => {
    const codes = errors.filter((code) => errorDefinition(code).status === status);
    return [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${errorDefinition(code).title}.`).join(' '),
        headers: responseHeaders(status),
        content: {
          'application/json': {
            schema: { $ref: `${COMPONENTS}ErrorBody` },
            examples: Object.fromEntries(
              codes.map((code) => [code, exampleError(code, operation, example)]),
            ),
          },
        },
      },
    ];
  });
  const success = z.globalRegistry.get(operation.output);
  return Object.fromEntries([
    [
      200,
      {
        description: success?.description,
        headers: responseHeaders(200),
        content: {
          'application/json': {
            schema: { $ref: COMPONENTS + success?.id },
            example: example.output,
          },
        },
      },
    ],
    ...failures,
  ]);
}

function responseHeaders(status: number) {
  const header = (description: string) => ({ description, schema: { type: 'string' } });
  return {
    'X-Request-Id': header('Identifies the request in the log of the service.'),
    ...(status === 401 && { 'WWW-Authenticate': header('The challenge, RFC 6750 section 3.') }),
    ...(errorCodes.some(
      (code) =>
        errorDefinition(code).status === status && errorDefinition(code).retryAfter !== undefined,
    ) && { 'Retry-After': header('Seconds to wait before trying again.') }),
    ...(status === 429 && {
      'RateLimit-Limit': header('How many requests are allowed within the window.'),
      'RateLimit-Remaining': header('How many of them are left: 0.'),
      'RateLimit-Reset': header('Seconds until the window ends and the count starts again.'),
    }),
  };
}

const tags = {
  application: {
    name: 'Applications',
    description: 'Operations of an application on codes and grants.',
  },
  grant: { name: 'Grants', description: 'Requests that a grant authenticates.' },
  operator: { name: 'Operator', description: 'Operations of the operator of the service.' },
} as const;

const linkingTag = {
  name: 'Linking',
  description: 'Where browsers and OAuth libraries begin.',
};

function describeOperation(name: string, operation: OperationContract): DescribedOperation {
  const example = exampleOf(name);
  const needs = [
    ...(operation.needsLinking ? ['SIGN_IN_URL'] : []),
    ...(operation.needsDocuments ? ['CLIENT_DOCUMENTS'] : []),
    ...(operation.needsEvents ? ['EVENTS_KEY'] : []),
  ];
  const note = needs.map((setting) => ` Only there if \`${setting}\` is set.`).join('');
  return {
    operationId: name,
    summary: operation.summary,
    description: operation.description + note,
    tags: [tags[operation.caller].name],
    security: securityOf(operation),
    ...(operation.roles && { 'x-latchkey-roles': operation.roles }),
    ...inputParts(operation, example.input),
    responses: responses(operation, example),
  };
}

/**
 * Moves the JSON body of an operation to the schemas. It is a union, and for one without a name the
 * client of oapi-codegen sends `{}`. The parts of the union stay without names, since
 * openapi-python-client would leave out their imports.
 */
function withNamedBody(
  operation: DescribedOperation,
  schemas: Record<string, object>,
): DescribedOperation {
  const { operationId, requestBody } = operation;
  const json = requestBody?.content['application/json'];
  if (json === undefined) throw new Error(`${operationId} has no JSON body.`);
  const name = `${operationId.replace(/(?:^|\.)\w/g, (start) => start.slice(-1).toUpperCase())}Body`;
  schemas[name] = json.schema;
  json.schema = { $ref: COMPONENTS + name };
  return operation;
}

/** Every operation, also those that the settings turn off. */
export function openApiDocument() {
  const paths: Record<string, Record<string, DescribedOperation>> = {};
  const bodies: Record<string, object> = {};
  for (const [name, operation] of Object.entries<OperationContract>(operations)) {
    const method = operation.method.toLowerCase();
    const path = paths[operation.path] ?? {};
    paths[operation.path] = path;
    const described = describeOperation(name, operation);
    const before = path[method];
    path[method] =
      before === undefined ? described : withNamedBody(sharedOperation(before, described), bodies);
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Latchkey',
      version: '1',
      summary: 'OAuth 2.0 server',
      description: `${ABOUT}\n\n${FLOW.map((line, i) => `${i + 1}. ${line}`).join('\n')}\n\n[Every error](docs/errors) says what to do next.`,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [linkingTag, ...Object.values(tags)],
    paths: {
      ...paths,
      [tokenContract.path]: {
        post: describeOperation('oauth.token', tokenContract),
      },
      '/oauth/authorize': { get: authorization },
      ...metadataPaths,
      ...registrationPaths,
    },
    components: {
      schemas: { ...componentSchemas(), ...bodies },
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).map(([name, { type, scheme, description }]) => [
          name,
          { type, scheme, description },
        ]),
      ),
    },
  };
}
