#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';

const { env: environment, stdout, stderr } = process;
process.exitCode = await runCommandLine(process.argv.slice(2), { environment, stdout, stderr });
