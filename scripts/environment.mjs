// The environment of installs, builds and tests. The settings of the service stay out of it: its
// secrets have no place in the environment of an install or in a log of a build, and its `HOST` or
// `PORT` could change what a tool does.

/** Each can also be given as a file, in NAME_FILE. */
export const SETTINGS = [
  'PORT',
  'HOST',
  'DATABASE_URL',
  'ADMIN_SECRET',
  'ADMIN_SECRET_PREVIOUS',
  'ADMIN_HOST',
  'ADMIN_PORT',
  'PUBLIC_URL',
  'LOG_LEVEL',
  'TRUST_PROXY',
  'DRAIN_SECONDS',
  'SHUTDOWN_SECONDS',
  'AUDIT',
  'AUDIT_DAYS',
  'REVOKED_GRANT_DAYS',
  'METRICS',
  'RATE_LIMIT',
  'SIGN_IN_URL',
  'PAGE_NAME',
  'PAGE_LOGO',
  'PAGE_COLOR',
  'PAGE_TEXTS',
];

/** An environment without the settings of the service. */
export function withoutSettings(environment) {
  const rest = { ...environment };
  for (const name of SETTINGS) {
    delete rest[name];
    delete rest[`${name}_FILE`];
  }
  return rest;
}
