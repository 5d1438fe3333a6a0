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

Every error has [a body](protocol/errors.md#body), over tRPC in \`error.data\`. \`error_code\` is stable, and the
headings below. \`error_description\` says what happened and what to do next, and is quoted below. \`request_id\`
identifies the request in the log of the service.

\`/oauth/authorize\`, \`/link/…\` and \`/connections…\` show their errors to people, as pages. With status 303,
the error goes to the application: its members are parameters of the redirect URI. If nobody vouches for
that, it is a page with status 400 instead.

${errorCodes.map(section).join('\n')}`;
}
