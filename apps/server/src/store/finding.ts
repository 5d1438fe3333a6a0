/** What can be looked at. */
export type CheckName =
  | 'settings'
  | 'store'
  | 'version'
  | 'topology'
  | 'indexes'
  | 'rights'
  | 'write_concern'
  | 'clock'
  | 'tls'
  | 'disk'
  | 'convert';

/** What a check has found. */
export interface Finding {
  check: CheckName;
  /**
   * A `problem` keeps the service from working, or from what it promises. A `warning` is worth a
   * thought. What could not be looked at is `skipped`.
   */
  level: 'ok' | 'warning' | 'problem' | 'skipped';
  /** One line. Without credentials. */
  found: string;
  /** What to do; null for nothing. */
  advice: string | null;
}

export function ok(check: CheckName, found: string): Finding {
  return { check, level: 'ok', found, advice: null };
}

export function warning(check: CheckName, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice };
}

export function problem(check: CheckName, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice };
}

export function skipped(check: CheckName, found: string, advice: string | null = null): Finding {
  return { check, level: 'skipped', found, advice };
}
