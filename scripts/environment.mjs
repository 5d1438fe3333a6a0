import { readFileSync } from 'node:fs';

// The environment of installs, builds and tests. The settings of the service stay out of it: its
// secrets have no place in the environment of an install or in a log of a build, and its `HOST` or
// `PORT` could change what a tool does.

const list = new URL('../apps/server/src/settings.json', import.meta.url);
const settings = Object.keys(JSON.parse(readFileSync(list, 'utf8')));

/** An environment without the settings of the service. */
export function withoutSettings(environment) {
  const rest = { ...environment };
  for (const name of settings) {
    delete rest[name];
    delete rest[`${name}_FILE`];
  }
  return rest;
}
