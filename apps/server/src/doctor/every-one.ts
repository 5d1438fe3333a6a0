import type { ListRange } from '@latchkey/store/store';

const PAGE = 500;

/** The records of a list, page by page. */
export async function* everyOne<Listed extends { id: string }>(
  list: (range: ListRange) => Promise<Listed[]>,
): AsyncGenerator<Listed> {
  let before: string | null = null;
  do {
    const page: Listed[] = await list({ limit: PAGE, before });
    yield* page;
    before = page.length < PAGE ? null : (page.at(-1)?.id ?? null);
  } while (before !== null);
}
