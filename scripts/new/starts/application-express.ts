import { Latchkey } from '@latchkey/client';
import { createApp } from './app.ts';

const { PORT, REDIRECT_URI = '' } = process.env;
createApp({ latchkey: new Latchkey(), redirectUri: REDIRECT_URI }).listen(
  Number(PORT),
  '127.0.0.1',
);
