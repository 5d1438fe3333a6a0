import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createHost } from './host.ts';

const { PORT, HOST_URL = '' } = process.env;
const ada = {
  account_id: '0193aa00-0000-7000-8000-0000000000a1',
  username: 'ada',
  display_name: 'Ada Lovelace',
};
const host = createHost({ admin: new LatchkeyAdmin(), url: HOST_URL, users: [ada] });
host.listen(Number(PORT), '127.0.0.1', () => process.stdout.write(`The host: ${HOST_URL}\n`));
