import { parseArgs } from 'node:util';
import { ports, projects } from './projects.mjs';

// Runs before anything is installed, on the Node of the machine.

const OPTIONS = {
  with: { type: 'string' },
  in: { type: 'string' },
  name: { type: 'string' },
  url: { type: 'string' },
  port: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
};

const WHAT = {
  application: 'links accounts of the service',
  host: 'the service that has the accounts',
  mcp: 'an MCP server, and a client to try it',
};

const listOf = (names) => names.join(', ').replace(/, (?=[^,]*$)/, ' or ');
const frameworksOf = (role) => Object.keys(projects[role]);
const roles = Object.keys(projects).map(
  (role) =>
    `  ${role.padEnd(12)}${WHAT[role].padEnd(38)}${listOf(frameworksOf(role)).padEnd(37)}${ports[role]}`,
);

/** What `npm run new -- --help` prints. */
export const USAGE = `Usage: npm run new -- ROLE --with FRAMEWORK --in FOLDER [options]

Makes a project that runs, out of an example, and registers it at the running service.

  ROLE        what it is                            FRAMEWORK                            port
${roles.join('\n')}

  --with FRAMEWORK  may be left out if there is one
  --in FOLDER       a new folder
  --name NAME       the name that users see (default: the name of the folder)
  --url URL         the address of the service (default: http://127.0.0.1:3000)
  --port PORT       where the project listens on 127.0.0.1 (default: as above)

Example: npm run new -- application --with express --in ../my-app
`;

/** Its message says what to do. */
export class Refused extends Error {}

const HELP = 'All of its options: npm run new -- --help';

function valuesOf(args) {
  const { values, positionals } = parseArgs({
    ...{ args, options: OPTIONS, allowPositionals: true },
    // With messages of our own.
    strict: false,
  });
  for (const [name, value] of Object.entries(values)) {
    if (OPTIONS[name] === undefined) throw new Refused(`There is no option "${name}". ${HELP}`);
    const takes = OPTIONS[name].type;
    if (typeof value !== takes || (takes === 'string' && /^(?:-|$)/.test(value))) {
      throw new Refused(`--${name} takes ${takes === 'string' ? 'a' : 'no'} value. ${HELP}`);
    }
  }
  return { values, positionals };
}

export function readOrder(args) {
  const { values, positionals } = valuesOf(args);
  if (values.help) return null;
  const [role, ...rest] = positionals;
  if (!Object.hasOwn(projects, role ?? '')) {
    throw new Refused(`Choose what to make: ${listOf(Object.keys(projects))}. ${HELP}`);
  }
  const frameworks = frameworksOf(role);
  const framework = values.with ?? (frameworks.length === 1 ? frameworks[0] : '');
  if (!frameworks.includes(framework)) {
    throw new Refused(`${role}: choose --with ${listOf(frameworks)}`);
  }
  if (values.in === undefined || rest.length > 0) {
    throw new Refused(`Name one new folder: --in FOLDER. ${HELP}`);
  }
  const port = Number(values.port ?? ports[role]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Refused('--port takes a number from 1 to 65535.');
  }
  const url = (values.url ?? 'http://127.0.0.1:3000').replace(/\/$/, '');
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new Refused('--url takes the address of the service, such as http://127.0.0.1:3000.');
  }
  const name = values.name === undefined ? {} : { name: values.name };
  return { role, framework, folder: values.in, url, port, ...name };
}
