import { errorDefinition } from '@latchkey/schema';
import type { Logger } from 'pino';
import type { Settings } from '../../settings.ts';
import { errorHeaders, reportFailure } from '../error-response.ts';
import type { RequestContext } from '../request-context.ts';
import { type Headers, send } from '../response.ts';
import type { PageAssets } from './assets.ts';
import { pageHeaders } from './page-headers.ts';
import { type LanguageSources, preferredLanguages } from './texts/language.ts';
import { createTextCatalog } from './texts/page-texts.ts';
import { errorPage, type WayBack } from './views/error-page.ts';
import type { Page, PageFrame } from './views/page.ts';

/** The settings that make the pages a part of the host service. */
export type PageSettings = Pick<Settings, 'pageLogo' | 'pageColor' | 'pageTexts'> & {
  pageName: string;
};

/** What an error page is made with, as far as it is known. */
export interface ErrorSurroundings extends Pick<LanguageSources, 'locale' | 'ui_locales'> {
  wayBack?: WayBack | null;
}

/** Makes pages for the people of a request, and sends them. */
export interface PageSender {
  /** The languages of pages there are. */
  readonly languages: readonly string[];
  /** What a page is made with, in the language of the person, and the languages of that person. */
  frameFor(
    context: RequestContext,
    known?: Pick<LanguageSources, 'locale' | 'ui_locales'>,
  ): { frame: PageFrame; preferred: readonly string[] };
  send(context: RequestContext, page: Page, status?: number, headers?: Headers): void;
  /** Sends an error as a page, with the status and the headers that it has in JSON. */
  sendError(context: RequestContext, failure: unknown, surroundings?: ErrorSurroundings): void;
}

export function createPageSender(
  { pageName, pageLogo, pageColor, pageTexts }: PageSettings,
  publicUrl: string,
  assets: PageAssets,
  log: Logger,
): PageSender {
  const catalog = createTextCatalog(pageTexts);
  const theme = { name: pageName, logo: pageLogo, color: pageColor };
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, '');

  const frameFor: PageSender['frameFor'] = ({ request }, known = {}) => {
    const acceptLanguage = request.headers['accept-language'];
    const preferred = preferredLanguages({ ...known, acceptLanguage });
    return { frame: { theme, texts: catalog.choose(preferred), basePath, assets }, preferred };
  };

  function sendPage(context: RequestContext, page: Page, status = 200, headers: Headers = {}) {
    const all = { ...pageHeaders(page), ...headers };
    send(context, status, 'text/html; charset=UTF-8', page.html, all);
  }

  return {
    languages: catalog.languages,
    frameFor,
    send: sendPage,
    sendError(context, failure, { wayBack = null, ...known } = {}) {
      const error = reportFailure(log, context, failure);
      for (const call of context.calls) call.error_code ??= error.code;
      const { frame } = frameFor(context, known);
      const { requestId: request_id } = context;
      const page = errorPage(frame, { error_code: error.code, request_id, wayBack });
      sendPage(context, page, errorDefinition(error.code).status, errorHeaders(error));
    },
  };
}
