import type { Milliseconds } from '@latchkey/domain/clock';
import { decodeJson } from '@latchkey/domain/decode-json';
import { isUuid } from '@latchkey/schema';
import type { CommandChange } from '@latchkey/store/records';
import { z } from 'zod';
import type { LogCheck } from './log-check.ts';

export type AuditLine = z.output<typeof auditLine>;

const id = z.string().refine(isUuid).toLowerCase().optional();

const auditLine = z
  .object({
    msg: z.literal('audit'),
    result: z.enum(['done', 'outcome_unknown']),
    time: z.iso.datetime(),
    action: z.string(),
    // A grant that ended by itself has neither of these two, nor has an endpoint that its tries have disabled.
    by: z.enum(['application', 'grant', 'operator', 'command_line', 'user']).nullable(),
    request_id: z.string().min(1).nullable(),
    reason: z.enum(['idle', 'replaced', 'gone', 'failing']).nullish(),
    application_id: id,
    secret_id: id,
    grant_id: id,
    account_id: id,
    resource_id: id,
    document_uri: z.string().optional(),
    endpoint_id: id,
    disabled: z.stringbool().optional(),
    // What a mark has ended has a lesser number.
    mark_number: z.coerce.number().int().positive().optional(),
    secret_version: z.coerce.number().int().optional(),
    key_id: id.nullable(),
    scope: z.string().optional(),
    redirect_uris: z.string().optional(),
    scopes: z.string().optional(),
    // The command line has it, because its changes are logged some seconds later.
    at: z.iso.datetime().optional(),
    os_user: z.string().optional(),
  })
  .transform(({ time, at = time, ...line }) => ({ ...line, at: Date.parse(at) as Milliseconds }));

/** The line that a service would write of it. */
export function auditLineOf({ operation, os_user, ids, request_id, at }: CommandChange): AuditLine {
  const { mark_number, ...others } = ids;
  return {
    ...{ msg: 'audit', result: 'done', action: operation, by: 'command_line', os_user, ...others },
    ...(mark_number !== undefined && { mark_number: Number(mark_number) }),
    ...{ request_id, at },
  };
}

const logLine = z.object({ level: z.unknown(), time: z.unknown(), msg: z.string() });

/** A line of the service has at most 4 KiB. Collectors wrap it, which escapes its quotes. */
const MAX_LINE = 65_536;

export interface LogCounts {
  lines: number;
}

/** Finds lines behind the prefix of syslog, and inside the JSON of Docker or journald. */
export async function* readAuditLines(
  log: AsyncIterable<Buffer>,
  counts: LogCounts,
  check?: LogCheck,
): AsyncGenerator<AuditLine> {
  for await (const text of linesOf(log)) {
    for (const entry of entriesIn(text)) {
      if (logLine.safeParse(entry).success) counts.lines += 1;
      check?.see(entry);
      const { data } = auditLine.safeParse(entry);
      if (data !== undefined) yield data;
    }
  }
}

/** Skips lines that are too long for the service, so that no input fills the memory. */
async function* linesOf(log: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  let isTooLong = false;
  for await (const chunk of log) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!isTooLong) yield line;
      isTooLong = false;
    }
    if (rest.length > MAX_LINE) {
      isTooLong = true;
      rest = '';
    }
  }
  if (!isTooLong) yield rest;
}

function* entriesIn(text: string): Generator<object> {
  // A killed process may leave half a line, directly followed by the next one. Quotes inside a line
  // are escaped, so text from a caller cannot look like the beginning of a line.
  for (const part of text.split(/(?=\{"level":)/)) {
    const entry = parseObject(part.slice(part.indexOf('{'), part.lastIndexOf('}') + 1));
    if (entry === null) continue;
    // Docker and journald keep the line as a string.
    const inner = entry.log ?? entry.MESSAGE;
    if (typeof inner === 'string') yield* entriesIn(inner);
    else yield entry;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

function parseObject(text: string): Record<string, unknown> | null {
  if (!text.startsWith('{')) return null;
  try {
    const value = decodeJson(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
