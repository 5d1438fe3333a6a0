import type { Command } from 'commander';
import { type Explanation, explainRequest } from '../audit/explain.ts';
import { redactorFor } from '../log.ts';
import { describeActor } from './describe-actor.ts';
import { withService } from './with-service.ts';

const NOTHING_KNOWN = `There is no refusal with this request id on record. Either the request was not refused; or it called no operation (a wrong path or method); or it is older than AUDIT_DAYS; or it was one of too many at once; or the process ended before it was written, about a second later.
Look for the request id in the log of the service: each call that changed something or was refused has a line with "msg":"audit" there, and each request one with "msg":"request".`;

export function addExplainCommand(program: Command, environment: NodeJS.ProcessEnv): void {
  program
    .command('explain')
    .argument('<request-id>', 'the X-Request-Id of an answer, or the request_id of an error')
    .option('--json', 'print it as an object')
    .description('say which check refused a request, and what to do about it')
    .action((request_id, options) => explain(environment, request_id, options));
}

async function explain(
  environment: NodeJS.ProcessEnv,
  request_id: string,
  options: { json?: boolean },
): Promise<void> {
  await withService(environment, async ({ store }, settings) => {
    // As it was before it was stored: who makes a credential its request id finds it all the same.
    const data = await explainRequest(store, redactorFor(settings)(request_id));
    if (data.length === 0) throw new Error(NOTHING_KNOWN);
    const text = options.json
      ? JSON.stringify({ object: 'list', data })
      : data.map(describe).join('\n\n');
    process.stdout.write(`${text}\n`);
  });
}

function describe(refusal: Explanation): string {
  const { at, operation, error_code, reason, found, advice, grant_id } = refusal;
  return [
    `${at}  ${operation} was refused with ${error_code}${reason === null ? '' : ` (${reason})`}`,
    `${describeActor(refusal)}${grant_id === null ? '' : `, about grant ${grant_id}`}`,
    `What was found: ${found}`,
    `What to do: ${advice}`,
  ].join('\n');
}
