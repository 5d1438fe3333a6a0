import { closeSync, openSync } from 'node:fs';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { LogSink, OF_CHANGE } from './log-sink.ts';

test.each<[string, object, string]>([
  ['the audit line of a change', { [OF_CHANGE]: true }, 'audit'],
  ['a log number', {}, 'log number'],
])('%s has room where an ordinary line has none', async (_, entry, message) => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const sink = new LogSink({ fd, redact: (lines) => lines, prettify: null, onRecovery() {} });
  onTestFinished(() => sink.close());
  const log = pino({ base: null }, sink);
  while (sink.dropped === 0) log.info('x'.repeat(1_000));
  log.info(entry, message);
  expect(sink.dropped).toBe(1);
  log.info('an ordinary line');
  log.info({ result: 'done', [OF_CHANGE]: false }, 'audit');
  expect(sink.dropped).toBe(3);
});
