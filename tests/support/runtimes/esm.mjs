import * as client from '@latchkey/client';
import * as admin from '@latchkey/client/admin';
import * as events from '@latchkey/client/events';
import * as guards from '@latchkey/client/guards';
import * as host from '@latchkey/client/host';
import * as linking from '@latchkey/client/linking';
import { program } from './program.mjs';

await program({ client, events, guards, linking, host, admin }, undefined, process.env);
