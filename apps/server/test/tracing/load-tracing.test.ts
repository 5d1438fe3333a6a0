import { expect, test } from 'vitest';
import { launchServer, listening } from '../http/served-process.ts';

const file = (name: string) => `--import=${new URL(name, import.meta.url)}`;

/** Starts the service with files that Node imports first. Returns its output after one request. */
async function serve(...files: string[]): Promise<string> {
  const NODE_OPTIONS = files.map(file).join(' ');
  const server = launchServer('file::memory:', { environment: { NODE_OPTIONS } });
  const response = await fetch(`${await listening(server)}/healthz`);
  expect(response.status).toBe(200);
  server.kill('SIGTERM');
  return (await server.ended).stdout;
}

test('spans go to the SDK that the operator imports first', async () => {
  const stdout = await serve('report-api.ts', 'instrumentation.ts');
  expect(stdout).toContain('the service loads the OpenTelemetry API');
  expect(stdout).toContain("name: 'GET /healthz'");
});

test('without an SDK, the API is not even loaded', async () => {
  expect(await serve('report-api.ts')).not.toContain('OpenTelemetry');
});
