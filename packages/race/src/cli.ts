#!/usr/bin/env node
import { main } from './main.ts';

// A login that never ends would keep the process.
process.exit(await main(process.argv.slice(2), process.env));
