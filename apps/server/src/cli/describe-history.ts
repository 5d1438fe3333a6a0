import type { GrantHistory, GrantHistoryEntry } from '@latchkey/schema';
import { describeActor, type KeyNames, namesOfKeys } from './actor.ts';
import type { CallAsOperator } from './open-for-command.ts';

export async function describeHistory(
  { application_id, account_id, recoveries, data }: GrantHistory,
  call: CallAsOperator,
): Promise<string> {
  const keyNames = await namesOfKeys(call, data);
  const whose =
    application_id === null
      ? 'There is no record of this grant, only of refused calls about it.'
      : `Application ${application_id}, account ${account_id}.`;
  const last = recoveries > 1 ? [`Recovered ${recoveries} times; the last one is shown.`] : [];
  return [whose, ...last, ...data.map((entry) => describeEntry(entry, keyNames))].join('\n');
}

function describeEntry(
  { at, what, result, reason, request_id, ...who }: GrantHistoryEntry,
  keyNames: KeyNames,
): string {
  const outcome = reason === null ? result : `${result} (${reason})`;
  // A change without an actor is older than the recording of actors. A refusal without one had an
  // unauthenticated caller.
  const nobody = reason === 'idle' ? 'by itself' : 'actor unknown';
  const actor = result === 'done' && who.by === null ? nobody : describeActor(who, keyNames);
  const request = request_id === null ? '' : `  request ${request_id}`;
  return `${at}  ${what}: ${outcome}  ${actor}${request}`;
}
