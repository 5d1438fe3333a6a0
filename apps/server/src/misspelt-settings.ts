import settings from './settings.json' with { type: 'json' };

export interface MisspeltSetting {
  variable: string;
  setting: string;
}

const NAMES = Object.entries(settings).flatMap(([name, setting]) =>
  'fileExample' in setting ? [name, `${name}_FILE`] : [name],
);

// Shorter names are too often near a setting: POST, HOSTS, AUDITS.
const FEWEST_LETTERS = 8;

const MOST_CHANGES = 2;

/** Finds variables that are nearly settings. Their values may be secrets. */
export function misspeltSettings(environment: NodeJS.ProcessEnv): MisspeltSetting[] {
  return Object.keys(environment).flatMap((variable) => {
    if (variable.length < FEWEST_LETTERS || NAMES.includes(variable)) return [];
    const setting = NAMES.find((name) => isWithin(MOST_CHANGES, variable, name));
    return setting === undefined ? [] : [{ variable, setting }];
  });
}

/** A change adds, leaves out or replaces a letter, or swaps two neighbours. */
function isWithin(changes: number, left: string, right: string): boolean {
  if (left === right) return true;
  if (changes === 0) return false;
  let at = 0;
  while (left[at] === right[at]) at++;
  const rest = (leftLetters: number, rightLetters: number) =>
    isWithin(changes - 1, left.slice(at + leftLetters), right.slice(at + rightLetters));
  const areSwapped = left[at] === right[at + 1] && left[at + 1] === right[at];
  return rest(1, 0) || rest(0, 1) || rest(1, 1) || (areSwapped && rest(2, 2));
}
