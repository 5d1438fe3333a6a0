import { type ErrorCode, errorCodes, errorDefinition } from '@latchkey/schema';

/** Escapes a text for Markdown, except its backticks. */
const literal = (text: string) => text.replaceAll('<', '&lt;').replaceAll('*', '\\*');

function section(code: ErrorCode): string {
  const { title, help } = errorDefinition(code);
  return `## \`${code}\`

**${title}.** ${literal(help)}
`;
}

/** The expected content of docs/errors.md. */
export function errorPage(): string {
  return `# Errors

<!-- Made from packages/schema/src/errors.ts: npm run generate -->

The causes of each \`error_code\`. What to do next says the \`error_description\` of the response, and \`/docs/errors\` of
the service. [The protocol](protocol/errors.md) has the status and the members of each. \`request_id\` identifies the
request in the log of the service.

${errorCodes.map(section).join('\n')}`;
}
