import { expect, test } from 'vitest';
import { describeOnEachStore } from '../http/databases.ts';
import { ADMIN_SECRET, useServer } from '../http/running-server.ts';
import { LINKING } from './link-flow.ts';
import { walk } from './walk.ts';

describeOnEachStore('what belongs to the parties of a link', (fresh) => {
  const server = useServer(fresh, { ...LINKING, LOG_LEVEL: 'trace', METRICS: 'on' });

  test('gets into no log line, no refusal, and no credential into the database', async () => {
    const { secrets, responses } = await walk(server);
    expect(new Set(secrets).size).toBe(secrets.length);
    expect(responses.filter(({ status }) => status >= 500)).toEqual([]);
    const shows = (text: string) =>
      [...secrets, ADMIN_SECRET].filter(
        (one) => text.includes(one) || text.includes(encodeURI(one)),
      );
    // The host may read its own link, with the hint in it.
    const refusals = responses.filter(({ status }) => status !== 200);
    expect(refusals.length).toBeGreaterThan(400);
    const loud = refusals.filter(({ text }) => shows(text).length > 0);
    expect(loud.map(({ title, status }) => `${title} ${status}`)).toEqual([]);

    await server.service.audit.flush();
    expect(server.lines.length).toBeGreaterThan(400);
    // These lines are not redacted: nothing is logged that would need it.
    expect(server.lines.filter((line) => shows(line).length > 0)).toEqual([]);

    const bytes = await server.database.bytes();
    const isCredential = (text: string) => /^lk_/.test(text);
    for (const secret of secrets.filter(isCredential)) {
      expect(bytes.includes(secret.slice(-40))).toBe(false);
    }
  });
});
