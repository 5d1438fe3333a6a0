import type { DomainError } from '../../domain-error.ts';
import { type LanguageSources, preferredLanguages } from '../../page-texts/language.ts';
import type { Linking } from '../../service.ts';
import type { Settings } from '../../settings.ts';
import { errorHeaders, errorStatus } from '../error-response.ts';
import type { ErrorPageDetails, Headers, RequestContext } from '../request-context.ts';
import { send } from '../response.ts';
import type { SendError } from '../router.ts';
import type { PageAssets } from './assets.ts';
import { pageHeaders } from './page-headers.ts';
import { createTextCatalog } from './text-catalog.ts';
import { errorPage, type WayBack } from './views/error-page.ts';
import type { Page, PageFrame } from './views/page.ts';

export type PageSettings = Pick<Settings, 'pageName' | 'pageLogo' | 'pageColor' | 'pageTexts'>;

export interface PageSender {
  readonly languages: readonly string[];
  frameFor(
    context: RequestContext,
    known?: Pick<LanguageSources, 'locale' | 'ui_locales'>,
  ): PageFrame;
  send(context: RequestContext, page: Page, status?: number, headers?: Headers): void;
  readonly sendError: SendError;
}

export function createPageSender(
  { pageName, pageLogo, pageColor, pageTexts }: PageSettings,
  { publicUrl, signInUrl }: Linking,
  assets: PageAssets,
): PageSender {
  const catalog = createTextCatalog(pageTexts);
  const name = pageName ?? new URL(signInUrl).hostname;
  const theme = { name, logo: pageLogo, color: pageColor };
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, '');

  const frameFor: PageSender['frameFor'] = ({ request }, known = {}) => {
    const acceptLanguage = request.headers['accept-language'];
    const preferred = preferredLanguages({ ...known, acceptLanguage });
    return { theme, texts: catalog.choose(preferred), basePath, assets };
  };

  function sendPage(context: RequestContext, page: Page, status = 200, headers: Headers = {}) {
    const all = { ...pageHeaders(page), ...headers };
    send(context, status, 'text/html; charset=UTF-8', page.html, all);
  }

  return {
    languages: catalog.languages,
    frameFor,
    send: sendPage,
    sendError(context, error) {
      const known = error.code === 'page_expired' ? {} : context.errorPage;
      const frame = frameFor(context, known);
      const page = errorPage(frame, {
        error_code: error.code,
        request_id: context.requestId,
        wayBack: wayBackOf(error, known, name),
      });
      sendPage(context, page, errorStatus(context, error), errorHeaders(context, error));
    },
  };
}

function wayBackOf(
  { members }: DomainError,
  { application_name = null, back_url = null }: ErrorPageDetails,
  pageName: string,
): WayBack | null {
  const url = members.redirect_to ?? back_url;
  return url === null ? null : { url, name: application_name ?? pageName };
}
