import { type Finding, ok, problem, warning } from './finding.ts';

const MB = 1_000_000;
const LEAST_ROOM = 100 * MB;
const FAIR_ROOM = 1_000 * MB;

export function checkRoom(place: string, sizes: { free: number; database: number }): Finding {
  const found = `${place} has ${megabytes(sizes.free)} free; the database takes ${megabytes(sizes.database)}.`;
  if (sizes.free < LEAST_ROOM) {
    return problem('disk', found, 'Free disk space now: when it is full, every change is refused.');
  }
  if (sizes.free < Math.max(FAIR_ROOM, sizes.database)) {
    return warning(
      'disk',
      found,
      'Free disk space: a backup or an index build can need as much as the database takes.',
    );
  }
  return ok('disk', found);
}

const megabytes = (bytes: number) =>
  bytes < 10_000 * MB ? `${Math.ceil(bytes / MB)} MB` : `${Math.floor(bytes / (1_000 * MB))} GB`;
