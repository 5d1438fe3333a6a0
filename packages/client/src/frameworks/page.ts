import { answer, type HttpResponse } from './http.ts';

/**
 * A short page in English.
 *
 * @param text - what follows the title, as HTML
 * @param policy - what its Content-Security-Policy has besides
 */
export const page = (status: number, title: string, text: string, policy = ''): HttpResponse =>
  answer(
    status,
    {
      'Content-Type': 'text/html; charset=UTF-8',
      'Content-Security-Policy': `default-src 'none'${policy}`,
    },
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<body><h1>${title}</h1><p>${text}</p></body></html>
`,
  );
