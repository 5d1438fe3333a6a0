// Loaded into a program that is measured: writes the coverage since the last request, and resets it.
import { takeCoverage } from 'node:v8';

process.on('message', (request) => {
  if (request !== 'take') return;
  takeCoverage();
  process.send?.('taken');
});
