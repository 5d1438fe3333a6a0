// For a runtime that lets the program read no environment variable of the SDK: the options are passed.
import process from 'node:process';
import * as client from '@latchkey/client';
import * as admin from '@latchkey/client/admin';
import * as events from '@latchkey/client/events';
import * as guards from '@latchkey/client/guards';
import * as host from '@latchkey/client/host';
import * as linking from '@latchkey/client/linking';
import { optionsFrom, program } from './program.mjs';

const env = JSON.parse(process.env.GIVEN);
await program({ client, events, guards, linking, host, admin }, optionsFrom(env), env);
