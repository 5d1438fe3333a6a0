import { browserActions } from '../../operations/browser-actions.ts';
import { act, type PageTools, type PageVisit } from './page-visit.ts';

declare const tools: PageTools;
declare const visit: PageVisit;

act(tools, visit, browserActions.showConsent, { readInput: async () => ({}) });
// @ts-expect-error the rule would end the grants of every application
act(tools, visit, browserActions.disconnect, { readInput: async () => ({}) });
