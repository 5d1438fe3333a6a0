import { type ErrorCode, errorCodes, errorDefinition } from '../../packages/schema/src/index.ts';

/** A text in which only backticks mean something. */
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

/** What docs/errors.md has to be. */
export function errorPage(): string {
  return `# Errors

<!-- Made from packages/schema/src/errors.ts: npm test -- examples/docs.test.ts -u -->

Every error has a body with at least these members:

- \`error\`: the standard OAuth word; on \`/v1\`, \`invalid_client\` reads \`invalid_token\`
- \`error_description\`: what happened and what to do next, for a person; the quoted text below
- \`error_code\`: stable, the one to branch on; the headings below
- \`error_uri\`: its paragraph on the running service's \`/docs/errors\`
- \`request_id\`: names the request in the log of the service

Over tRPC the whole body is in \`error.data\`.

${errorCodes.map(section).join('\n')}`;
}
