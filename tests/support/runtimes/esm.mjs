import * as client from '@latchkey/client';
import { program } from './program.mjs';

await program(client, undefined, process.env.LATCHKEY_CODE, process.env.NOBODY);
