// Reads a log from its standard input, as rotatelogs and the like do: once a file has so many bytes, the
// next line begins another one, and the full one is compressed. Run by plain node.

import { createWriteStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { gzipSync } from 'node:zlib';

const [path = '', bytes = ''] = process.argv.slice(2);

let file = createWriteStream(path);
let size = 0;
let full = 0;

async function rotate(): Promise<void> {
  await new Promise((resolve) => file.end(resolve));
  await writeFile(`${path}.${++full}.gz`, gzipSync(await readFile(path)));
  await rm(path);
  file = createWriteStream(path);
  size = 0;
}

for await (const line of createInterface({ input: process.stdin })) {
  file.write(`${line}\n`);
  size += line.length + 1;
  if (size >= Number(bytes)) await rotate();
}
await new Promise((resolve) => file.end(resolve));
await writeFile(`${path}.ended`, '');
