/** Lets all who ask until it comes wait for the same. Who asks after that waits for the next. */
export function together(wait: () => Promise<void>): () => Promise<void> {
  let waiting: Promise<void> | null = null;
  return () => {
    waiting ??= wait().then(() => {
      waiting = null;
    });
    return waiting;
  };
}
