import type { Account, ApplicationProfile, Scope } from '@latchkey/schema';
import type { Html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import type { PageTheme } from '../theme/theme.ts';

export interface PageFrame {
  readonly theme: PageTheme;
  readonly texts: PageTexts;
  readonly basePath: string;
  readonly assets: { readonly style: string; readonly script: string };
}

export interface Page {
  readonly html: string;
  readonly logoOrigins: readonly string[];
  readonly leadsAway: boolean;
}

export interface PageParts {
  readonly title: string;
  readonly body: Html;
  readonly logos: readonly (string | null)[];
  readonly leadsAway?: boolean;
}

export interface ShownApplication
  extends Omit<ApplicationProfile, 'object' | 'id' | 'document_uri' | 'vouched'> {
  /** For an application that nobody registered. Only its host is certain: its name is a claim. */
  readonly document: { readonly uri: string } | null;
}

export type ShownAccount = Pick<Account, 'display_name' | 'username'>;

export type ShownScope = Omit<Scope, 'object'>;
