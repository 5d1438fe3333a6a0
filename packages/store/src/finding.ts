export type CheckName =
  | 'node'
  | 'settings'
  | 'store'
  | 'damage'
  | 'version'
  | 'topology'
  | 'indexes'
  | 'rights'
  | 'write_concern'
  | 'clock'
  | 'tls'
  | 'disk'
  | 'admin'
  | 'public_url'
  | 'keys'
  | 'applications'
  | 'documents'
  | 'events'
  | 'work'
  | 'convert';

export interface Finding {
  check: CheckName;
  /** `problem`: a promise is broken. `skipped`: the check could not run. */
  level: 'ok' | 'warning' | 'problem' | 'skipped';
  found: string;
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
