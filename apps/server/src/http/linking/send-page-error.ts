import { errorDefinition } from '@latchkey/schema';
import { errorHeaders } from '../error-response.ts';
import { html } from '../html.ts';
import { send } from '../response.ts';
import type { SendError } from '../router.ts';

/** Sends an error as a page. */
export const sendPageError: SendError = (context, error) => {
  const { status, title, description } = errorDefinition(error.code);
  const page = html`<!doctype html><title>${title}</title><h1>${title}</h1><p>${description}</p><p>${error.code} ${context.recorded.request_id}</p>`;
  send(context, status, 'text/html; charset=UTF-8', String(page), errorHeaders(context, error));
};
