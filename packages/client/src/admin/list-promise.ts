import type { CompleteList, List } from '@latchkey/schema';
import type { WithResponse } from '../response-details.ts';

/**
 * A list: `await` gets its first page, and `for await` gets the entries of all pages, one after the
 * other. Each page is one call, which is sent when the entries before it are used up.
 *
 * @typeParam Page - the page, such as `List<Application>`
 *
 * @example
 * ```ts
 * for await (const { id, name } of admin.applications.list()) console.log(id, name);
 * ```
 */
export interface ListPromise<Page extends List<unknown> | CompleteList<unknown>>
  extends Promise<WithResponse<Page>>,
    AsyncIterable<Page['data'][number]> {}

/**
 * Adds the entries of all pages to the promise of the first one.
 *
 * @param pageAfter - gets the page at a cursor
 */
export function listPromise<Page extends List<unknown>>(
  first: Promise<Page>,
  pageAfter: (cursor: string) => Promise<Page>,
): Promise<Page> & AsyncIterable<unknown> {
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      let page = await first;
      for (;;) {
        yield* page.data;
        if (page.next_cursor === null) return;
        page = await pageAfter(page.next_cursor);
      }
    },
  });
}
