import { type AccountName, isOpen, type LinkCall } from './calls.ts';

/** Everything that decides what the next call about a link is answered. */
export interface LinkState {
  isBegun: boolean;
  /** Whether the application is disabled. */
  isDisabled: boolean;
  /** Whether the application was disabled since the link was begun. */
  isOver: boolean;
  /** The identified account; of an approval, the approved one. */
  account: AccountName | null;
  /** The latest page. */
  page: { name: string; isOpened: boolean; session: string | null; isEnded: boolean } | null;
  decision: {
    status: 'approved' | 'denied';
    account: AccountName | null;
    /** The page that decided; null for the host. */
    by: string | null;
    /** The name of the code; null for one that nobody was told. */
    code: string | null;
  } | null;
  /** The grant is `live` or `ended`; before, its code is `pending` or `over`. */
  grant: 'none' | 'pending' | 'over' | 'live' | 'ended';
  /** The call that redeemed the code. */
  redeemed_by: string | null;
}

export const nothing: LinkState = {
  isBegun: false,
  isDisabled: false,
  isOver: false,
  account: null,
  page: null,
  decision: null,
  grant: 'none',
  redeemed_by: null,
};

/** What runs at the same time as a call. */
export interface Meanwhile {
  /** A call that ends codes of this account: it counts as after an approval that is still under way. */
  codesEnd: boolean;
  /** Likewise for pages, and an identification. */
  pagesEnd: boolean;
  /** Whether the application may have been disabled by then. */
  mayBeDisabled: boolean;
}

/**
 * The states in which a call can leave a link; none if its answer can't be given in this state. The
 * same state where it changes nothing.
 */
export function statesAfter(state: LinkState, call: LinkCall, during: Meanwhile): LinkState[] {
  const error_code = isOpen(call) ? undefined : call.answer?.error_code;
  const reasons = reasonsAgainst(state, call);
  if (error_code === undefined) {
    return reasons.length === 0 ? changed(returned(state, call), call, during) : [];
  }
  // A ticket is taken again for a while.
  const isLate =
    call.operation === 'open' && state.page?.name === call.page && state.page?.isOpened;
  if (isLate && error_code === 'page_expired') return [state];
  // What was under way when it ended may still be decided, and counts as before.
  const isOfTheEnd = state.isOver && whereOver.includes(error_code);
  if (reasons.includes(error_code) || isOfTheEnd) {
    // The page is asked first whose session it is.
    return error_code === 'link_decided' ? [state, returned(state, call)] : [state];
  }
  return unseen(state, call, during);
}

const whereOver = ['link_not_found', 'page_expired', 'code_not_found'];

/**
 * The error codes with which a call may be refused; none if it has to succeed. Where several apply,
 * any will do: one request reads several records, one after the other.
 */
function reasonsAgainst(state: LinkState, call: LinkCall): string[] {
  const { isDisabled, page, decision, grant, redeemed_by } = state;
  switch (call.operation) {
    case 'authorize':
      return isDisabled ? ['client_unknown'] : [];
    case 'identify':
      return against(state, call);
    case 'open':
      return page !== null && page.session !== null ? ['page_expired'] : againstHolder(state, call);
    case 'show':
      return decision !== null && isRepeated(state, call, decision.status)
        ? againstHolder(state, call)
        : against(state, call);
    case 'approve': {
      const isSame = call.page !== undefined || decision?.account === call.account;
      if (isRepeated(state, call, 'approved') && isSame && grant === 'pending') {
        return againstHolder(state, call);
      }
      const isOther =
        call.page === undefined && state.account !== null && state.account !== call.account;
      const isChanged = decision === null && isOther;
      return [...against(state, call), ...(isChanged ? ['account_changed'] : [])];
    }
    case 'deny':
      return isRepeated(state, call, 'denied') ? againstHolder(state, call) : against(state, call);
    case 'token':
      if (isDisabled) return ['application_disabled', ...whyNoCode(state)];
      return whyNoCode(state);
    case 'use': {
      const isLive = grant === 'live' && redeemed_by === call.credential;
      return [
        ...(isDisabled ? ['application_disabled'] : []),
        ...(isLive ? [] : ['credentials_invalid']),
      ];
    }
    default:
      return [];
  }
}

/** The first session that comes back is the one of its page. */
function returned(state: LinkState, { operation, session }: LinkCall): LinkState {
  const { page } = state;
  if (page === null || operation === 'open' || session === undefined) return state;
  return page.session === null ? { ...state, page: { ...page, session } } : state;
}

/** Why a link, or a page, does not work; or it does, and the request is decided. */
const against = (state: LinkState, call: LinkCall) => [
  ...againstHolder(state, call),
  ...(state.decision === null ? [] : ['link_decided']),
];

function againstHolder(state: LinkState, call: LinkCall): string[] {
  const { isBegun, isDisabled, isOver, page, decision } = state;
  const isGone = !isBegun || isDisabled || (isOver && decision === null);
  if (call.page === undefined) return isGone ? ['link_not_found'] : [];
  const isOfAnother = page !== null && (page.session ?? call.session) !== call.session;
  return isGone || page?.name !== call.page || page.isEnded || isOfAnother ? ['page_expired'] : [];
}

function isRepeated({ decision }: LinkState, { page }: LinkCall, status: string): boolean {
  return decision?.status === status && decision.by === (page ?? null);
}

function whyNoCode({ grant, redeemed_by }: LinkState): string[] {
  if (redeemed_by !== null) return ['code_already_used'];
  return grant === 'pending' ? [] : ['code_not_found'];
}

function changed(state: LinkState, call: LinkCall, during: Meanwhile): LinkState[] {
  const { page, decision, grant } = state;
  const account = call.account ?? null;
  switch (call.operation) {
    case 'authorize': {
      const begun = { ...state, isBegun: true };
      // It may have read the application before that was disabled, and is over then.
      return during.mayBeDisabled ? [begun, { ...begun, isOver: true }] : [begun];
    }
    case 'identify': {
      const of = (isEnded: boolean): LinkState => ({
        ...{ ...state, account },
        page: call.own_page ? null : { name: call.id, isOpened: false, session: null, isEnded },
      });
      return during.pagesEnd ? [of(false), of(true)] : [of(false)];
    }
    case 'open':
      return page ? [{ ...state, page: { ...page, isOpened: true } }] : [];
    case 'approve':
      return approved(state, call, during);
    case 'deny': {
      const by = call.page ?? null;
      const denied = { status: 'denied', account: null, by, code: null } as const;
      return [decision ? state : { ...state, decision: denied }];
    }
    case 'token':
      if (decision?.code !== call.credential) return [];
      return [{ ...state, grant: 'live', redeemed_by: call.id }];
    case 'disconnect':
      return [decision?.account === account ? { ...state, grant: ended(grant) } : state];
    case 'end pages':
      if (page === null || page.isEnded || state.account !== account) return [state];
      return [{ ...state, page: { ...page, isEnded: true } }];
    case 'disable': {
      const isOver = state.isOver || state.isBegun;
      return [{ ...state, isDisabled: true, isOver, grant: grant === 'pending' ? 'over' : grant }];
    }
    case 'enable':
      return [state.isDisabled ? { ...state, isDisabled: false } : state];
    default:
      return [state];
  }
}

function approved(state: LinkState, call: LinkCall, { codesEnd }: Meanwhile): LinkState[] {
  const { decision } = state;
  const code = call.answer?.code ?? null;
  if (decision !== null) {
    if (code === null || decision.code === code) return [state];
    return decision.code === null ? [{ ...state, decision: { ...decision, code } }] : [];
  }
  const account = call.account ?? state.account;
  const by = call.page ?? null;
  const of = (grant: LinkState['grant']): LinkState => ({
    ...{ ...state, account, grant },
    decision: { status: 'approved', account, by, code },
  });
  return codesEnd ? [of('pending'), of('over')] : [of('pending')];
}

const ended = (grant: LinkState['grant']) =>
  grant === 'pending' ? 'over' : grant === 'live' ? 'ended' : grant;

/**
 * It was done, and the answer says no: the database's answer got lost, and what was done had ended
 * before the store could look.
 */
function unseen(state: LinkState, call: LinkCall, during: Meanwhile): LinkState[] {
  if (!during.codesEnd || reasonsAgainst(state, call).length > 0) return [];
  const { operation, answer } = call;
  if (operation === 'approve' && answer?.error_code === 'link_decided') {
    return approved(state, call, during).filter(({ grant }) => grant === 'over');
  }
  if (operation === 'token' && answer?.error_code === 'code_already_used') {
    return [{ ...state, grant: 'ended', redeemed_by: call.id }];
  }
  return [];
}
