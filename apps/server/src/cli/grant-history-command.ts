import { inputs } from '@latchkey/schema';
import { type GrantReport, type HistoryEntry, reportGrant } from '../audit/grant-history.ts';
import { validate } from '../operations/validate.ts';
import { describeActor } from './describe-actor.ts';
import { withService } from './with-service.ts';

/** Prints all that is known of a grant: a line an entry, or one object. */
export async function grantHistory(
  environment: NodeJS.ProcessEnv,
  id: string,
  options: { json?: boolean },
): Promise<void> {
  await withService(environment, async ({ store }) => {
    const { grant_id } = validate(inputs.grantIdInput, { grant_id: id }) as { grant_id: string };
    const report = await reportGrant(store, grant_id);
    process.stdout.write(`${options.json ? JSON.stringify(report) : describe(report)}\n`);
  });
}

function describe({ application_id, account_id, recoveries, data }: GrantReport): string {
  const whose =
    application_id === null
      ? 'There is no record of this grant, only of what was refused about it.'
      : `Of application ${application_id}, about account ${account_id}.`;
  const last = recoveries > 1 ? [`Recovered ${recoveries} times; the last one is shown.`] : [];
  return [whose, ...last, ...data.map(describeEntry)].join('\n');
}

function describeEntry({ at, what, result, reason, request_id, ...who }: HistoryEntry): string {
  const outcome = reason === null ? result : `${result} (${reason})`;
  // Nobody authenticated is refused; what was done without a name is from before names were kept.
  const actor = result === 'done' && who.by === null ? 'by somebody' : describeActor(who);
  const request = request_id === null ? '' : `  request ${request_id}`;
  return `${at}  ${what}: ${outcome}  ${actor}${request}`;
}
