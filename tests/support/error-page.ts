import { type ErrorCode, errorCodes, errorDefinition } from '@latchkey/schema';

/** Escapes a text for Markdown, except its backticks. */
const literal = (text: string) => text.replaceAll('<', '&lt;').replaceAll('*', '\\*');

function section(code: ErrorCode): string {
  const { status, error, title, description, help, members, retryAfter } = errorDefinition(code);
  const extra = [
    ...(members ?? []).map((member) => `, with \`${member}\``),
    ...(retryAfter === undefined ? [] : [', with `Retry-After`']),
  ];
  return `## \`${code}\`

**${title}.** Status ${status}, \`error\` is \`${error}\`${extra.join('')}.

> ${literal(description)}

${literal(help)}
`;
}

/** The expected content of docs/errors.md. */
export function errorPage(): string {
  return `# Errors

<!-- Made from packages/schema/src/errors.ts: npm run generate -->

Every error has a body with at least these members:

- \`error\`: the OAuth error word. On \`/v1\`, \`invalid_token\` replaces \`invalid_client\`.
- \`error_description\`: what happened and what to do next, for people; quoted below
- \`error_code\`: a stable code to branch on; the headings below
- \`error_uri\`: the paragraph about the error on \`/docs/errors\` of the running service
- \`request_id\`: identifies the request in the log of the service

Over tRPC, the whole body is in \`error.data\`.

\`/oauth/authorize\`, \`/link/…\` and \`/connections…\` are for people: they show their errors as pages,
with the \`error_code\` and the \`request_id\`. With status 303, the error goes to the application: the
browser takes it to the redirect URI, and its members are parameters of the query. If nobody vouches for
the redirect URI, it is a page with status 400 instead.

${errorCodes.map(section).join('\n')}`;
}
