import { serve } from '@hono/node-server';
import app from './app.ts';

const { PORT } = process.env;
serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, () => {
  process.stdout.write(`The application: http://127.0.0.1:${PORT}\n`);
});
