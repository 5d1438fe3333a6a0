import { browserActions } from '../../operations/browser-actions.ts';
import { act, type PageTools, type PageVisit, show } from './page-visit.ts';

declare const tools: PageTools;
declare const visit: PageVisit;

show(tools, visit, browserActions.showConsent);
// @ts-expect-error the rule would list the grants of every application
show(tools, visit, browserActions.disconnect);
// @ts-expect-error the rule would end the grants of every application
act(tools, visit, browserActions.disconnect, { readInput: async () => ({}) });
