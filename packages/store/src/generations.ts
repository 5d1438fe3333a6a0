import type { Claimed } from '@latchkey/domain/claimed';
import type {
  ApplicationChanges,
  ApplicationRecord,
  Generations,
  ResourceChanges,
  ResourceRecord,
  Since,
} from './records.ts';

export const firstGenerations: Generations = {
  now: 0,
  disabled: 0,
  redirect_uris: { others: 0, named: [] },
  scopes: { others: 0, named: [] },
};

export function sinceOf({ others, named }: Since, name: Claimed<string>): number {
  return named.find(([one]) => one === name)?.[1] ?? others;
}

/** Whether the application was disabled since. */
export function isOver(
  { generation }: { generation: number },
  { generations }: Pick<ApplicationRecord, 'generations'>,
): boolean {
  return generation < generations.disabled;
}

/** What a change of an application ends gets a new generation: see decision 58. */
export function generationsAfter(
  application: Pick<ApplicationRecord, 'redirect_uris' | 'scopes' | 'document' | 'generations'>,
  { redirect_uris: given, scopes, disabled = false }: Changes,
): Generations {
  const { generations, document } = application;
  // Nothing is compared with those of an application with a document.
  const redirect_uris = (document === null ? given : undefined) ?? application.redirect_uris;
  const nextScopes = scopes === undefined ? application.scopes : scopes;
  const isRaised =
    disabled ||
    isAnyTakenAway(application.redirect_uris, redirect_uris) ||
    isAnyTakenAway(application.scopes, nextScopes);
  const now = isRaised ? generations.now + 1 : generations.now;
  return {
    now,
    disabled: disabled ? now : generations.disabled,
    redirect_uris: sinceAfter(
      generations.redirect_uris,
      [application.redirect_uris, redirect_uris],
      now,
    ),
    scopes: sinceAfter(generations.scopes, [application.scopes, nextScopes], now),
  };
}

/** Null if a default scope would not be within its scopes. */
export function resourceAfter(
  resource: ResourceRecord,
  changes: ResourceChanges,
): ResourceRecord | null {
  const changed = { ...resource, ...changes };
  const { scopes, default_scopes } = changed;
  if (default_scopes?.some((token) => scopes?.includes(token) === false)) return null;
  const isRaised = isAnyTakenAway(resource.scopes, scopes);
  return { ...changed, generation: resource.generation + Number(isRaised) };
}

type Changes = ApplicationChanges & { disabled?: boolean };

/** Null stands for every name. */
type Names = readonly Claimed<string>[] | null;

function isAnyTakenAway(before: Names, after: Names): boolean {
  if (after === null) return false;
  return before === null || before.some((name) => !after.includes(name));
}

function sinceAfter(since: Since, [before, after]: [Names, Names], now: number): Since {
  const wasThere = (name: Claimed<string>) => before === null || before.includes(name);
  if (after === null && before === null) return since;
  const others = after === null ? now : since.others;
  const named = (after ?? before ?? [])
    .map((name): [string, number] => [name as string, wasThere(name) ? sinceOf(since, name) : now])
    .filter(([, generation]) => generation !== others);
  return { others, named };
}
