/** Shows how far a run is. */
export interface Progress {
  show(row: string, done: number, all: number): void;
  end(): void;
}

/** On a terminal, one line that changes; otherwise a line for each row. */
export function progressOn(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) {
    return {
      show: (row, done) => void (done === 0 && stream.write(`${row} …\n`)),
      end: () => undefined,
    };
  }
  const CLEAR = '\r\u001b[2K';
  return {
    show: (row, done, all) =>
      void stream.write(`${CLEAR}${row} ${all === 0 ? '…' : `${done}/${all}`}`),
    end: () => void stream.write(CLEAR),
  };
}
