// Prints the path of a mongod, downloaded into the folder named first if it is not there yet.

// Standard input ends if the parent process ends.
process.stdin.resume().on('end', () => process.exit(1));

try {
  const { MongoBinary } = await import('mongodb-memory-server-core');
  const downloadDir = process.argv[2];
  if (downloadDir === undefined) throw new Error('usage: memory-server-download.ts FOLDER');
  process.stdout.write(`\n${await MongoBinary.getPath({ downloadDir })}\n`, () => process.exit(0));
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(`${text}\n`, () => process.exit(1));
}
