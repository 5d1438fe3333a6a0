/** Writes that no response waits for. */
export interface UseNotes {
  /** Does nothing while a write for the same id is running. */
  write(id: string, note: () => Promise<unknown>): void;
  flush(): Promise<void>;
}

export function createUseNotes(onFailure: (error: unknown) => void): UseNotes {
  const writing = new Map<string, Promise<unknown>>();
  return {
    write(id, note) {
      if (writing.has(id)) return;
      const write = note()
        .catch(onFailure)
        .finally(() => writing.delete(id));
      writing.set(id, write);
    },
    async flush() {
      await Promise.all(writing.values());
    },
  };
}
