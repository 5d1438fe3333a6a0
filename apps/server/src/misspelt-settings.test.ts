import { expect, test } from 'vitest';
import { misspeltSettings } from './misspelt-settings.ts';

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URLS', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABASE_UR', 'DATABASE_URL'],
  ['DATBAASE_RUL', 'DATABASE_URL'],
  ['ADMIN_SECRET_FIEL', 'ADMIN_SECRET_FILE'],
  ['ADMINSECRET_PREVIOUSLY', null],
  ['TRUSTPROXY', 'TRUST_PROXY'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['Database_URL', null],
  // Fewer than 8 letters.
  ['METRICE', null],
  ['POSTS', null],
])('%s is nearly %s', (variable, setting) => {
  const expected = setting === null ? [] : [{ variable, setting }];
  expect(misspeltSettings({ [variable]: 'quicksilver', [setting ?? 'PORT']: 'on' })).toEqual(
    expected,
  );
});

test('nothing is misspelt in the environments that machines have', () => {
  const names = `
    PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE LC_ALL LC_CTYPE PWD OLDPWD SHLVL TMPDIR HOSTNAME
    USERNAME MAIL DISPLAY EDITOR VISUAL PAGER COLORTERM TERM_PROGRAM DBUS_SESSION_BUS_ADDRESS
    XDG_RUNTIME_DIR XDG_SESSION_ID SSH_CLIENT SSH_CONNECTION SSH_TTY SUDO_USER SUDO_COMMAND
    HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy TZ
    INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID NOTIFY_SOCKET MAINPID MANAGERPID LISTEN_FDS
    STATE_DIRECTORY RUNTIME_DIRECTORY LOGS_DIRECTORY CREDENTIALS_DIRECTORY MEMORY_PRESSURE_WATCH
    NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION YARN_VERSION NODE_EXTRA_CA_CERTS NODE_DEBUG
    KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT KUBERNETES_PORT_443_TCP_PORT
    LATCHKEY_SERVICE_HOST LATCHKEY_SERVICE_PORT LATCHKEY_PORT POD_NAME POD_NAMESPACE NODE_NAME
    MONGODB_URL MONGODB_URI MONGO_URL REDIS_URL POSTGRES_URL PGDATABASE DB_HOST DB_PORT DB_NAME
    OTEL_EXPORTER_OTLP_ENDPOINT OTEL_SERVICE_NAME OTEL_LOG_LEVEL GIT_AUTHOR_NAME GITHUB_TOKEN
    LATCHKEY_URL LATCHKEY_SECRET APP_SECRET SECRET_KEY JWT_SECRET AWS_REGION AWS_SECRET_ACCESS_KEY
    npm_config_loglevel npm_package_name npm_lifecycle_event npm_config_user_agent INIT_CWD
    LOGLEVEL_ROOT RAILS_ENV PUBLIC_HOSTNAME APPDATA PROGRAMDATA COMPUTERNAME PATHEXT SYSTEMROOT`;
  const environment = Object.fromEntries(
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, '1']),
  );
  expect(misspeltSettings(environment)).toEqual([]);
  expect(misspeltSettings(process.env)).toEqual([]);
});
