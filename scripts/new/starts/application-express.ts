import { Latchkey } from '@latchkey/client';
import { createApp } from './app.ts';

const { PORT, REDIRECT_URI = '' } = process.env;
const app = createApp({ latchkey: new Latchkey(), redirectUri: REDIRECT_URI });
app.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`The application: http://127.0.0.1:${PORT}\n`);
});
