import { isWithin } from './near-word.ts';
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
