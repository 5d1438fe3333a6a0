import type { UseMark } from '@latchkey/store/use-mark';
import type { Send } from './database.ts';
import { FENCED } from './fence.ts';

/** Keeps the mark as it is until the transaction has ended. Returns false if it is another one. */
export async function holdMark(send: Send, mark: UseMark): Promise<boolean> {
  const held = await send(`SELECT FROM use_mark WHERE mark = $1 AND ${FENCED} FOR UPDATE`, [
    JSON.stringify(mark),
  ]);
  return held.length === 1;
}
