/** An output of any size: JSON text that is read while it is sent. */
export class StreamedOutput<Output extends object = object> {
  readonly #first: string;
  readonly #rest: AsyncGenerator<string, void>;

  private constructor(first: string, rest: AsyncGenerator<string, void>) {
    this.#first = first;
    this.#rest = rest;
  }

  /** What fails before the first piece is an error of the call. */
  static async begin<Output extends object>(
    text: AsyncGenerator<string, void>,
  ): Promise<StreamedOutput<Output>> {
    const { value } = await text.next();
    return new StreamedOutput(value ?? '', text);
  }

  /** To be read once, if only in part: it holds its turn until then. Pieces may be empty. */
  async *pieces(before = '', after = ''): AsyncGenerator<string, void> {
    try {
      yield before + this.#first;
      yield* this.#rest;
      yield after;
    } finally {
      await this.#rest.return();
    }
  }

  async whole(): Promise<Output> {
    const pieces: string[] = [];
    for await (const piece of this.pieces()) pieces.push(piece);
    return JSON.parse(pieces.join(''));
  }
}
