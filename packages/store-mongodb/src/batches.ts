// Small enough that no write delays others.
export const BATCH_SIZE = 1_000;

/** @param work - does a batch, and returns how many records it found */
export async function inBatches(work: () => Promise<number>): Promise<void> {
  while ((await work()) === BATCH_SIZE) {
    // A full batch is hardly ever the last one.
  }
}
