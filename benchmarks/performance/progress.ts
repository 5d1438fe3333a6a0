/** Shows how far a run is. Only results go to stdout. */
export const logProgress = (text: string) => void process.stderr.write(`${text}\n`);
