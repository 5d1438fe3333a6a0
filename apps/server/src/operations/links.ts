import type { Initiator } from '@latchkey/domain/initiator';
import { choiceOf } from '@latchkey/rules/linking/choice';
import { approve, deny } from '@latchkey/rules/linking/decide';
import { describeRequest } from '@latchkey/rules/linking/describe-scopes';
import { identify } from '@latchkey/rules/linking/identify';
import { accessByLink, type LinkAccess } from '@latchkey/rules/linking/link-access';
import { linkingOf } from '@latchkey/rules/linking/linking';
import type { Service } from '@latchkey/rules/service';
import type { LinkRequest } from '@latchkey/schema';
import { toLinkRequest } from './linking-wire.ts';
import type { OperationRows } from './row.ts';

const linkIds = {
  link_id: 'output.id',
  application_id: 'output.application.id',
  account_id: 'output.account_id',
  grant_id: 'output.grant_id',
} as const;

export const linkRows: OperationRows<'admin.links'> = {
  'admin.links.read': {
    audited: 'always',
    ids: linkIds,
    handle: async (service, { link }, _operator, initiator) => {
      const { access, described } = await readLink(service, link, initiator);
      return toLinkRequest(access, described, linkingOf(service).vouchers);
    },
  },
  'admin.links.identify': {
    audited: 'always',
    ids: { ...linkIds, account_id: 'input.account_id' },
    handle: async (service, { link, ...input }, _by, initiator) => {
      const { account_id, locale = null, own_page = false, choice } = input;
      const asked = await readLink(service, link, initiator);
      const who = { account_id, locale, own_page, choice };
      const identified = await identify(service, asked.access, who, initiator);
      return linkRedirect(service, asked, { ...asked.access, ...identified });
    },
  },
  'admin.links.approve': {
    audited: 'always',
    ids: { ...linkIds, account_id: 'input.account_id' },
    handle: async (service, { link, choice: chosen, ...input }, _operator, initiator) => {
      const approval = { ...input, choice: chosen && choiceOf(chosen) };
      const asked = await readLink(service, link, initiator);
      const decided = await approve(service, asked.access, approval, initiator);
      return linkRedirect(service, asked, decided);
    },
  },
  'admin.links.deny': {
    audited: 'always',
    ids: linkIds,
    handle: async (service, { link }, _operator, initiator) => {
      const asked = await readLink(service, link, initiator);
      return linkRedirect(service, asked, await deny(service, asked.access, initiator));
    },
  },
};

/** All that a response needs, before the write: nothing can fail once that is made. */
async function readLink(service: Service, credential: string, initiator: Initiator) {
  const access = await accessByLink(service, credential, initiator);
  return { access, described: await describeRequest(service.store, access.link) };
}

function linkRedirect<To extends string | null>(
  service: Service,
  { access: { resource }, described }: Awaited<ReturnType<typeof readLink>>,
  {
    link,
    application,
    redirect_to,
  }: Pick<LinkAccess, 'link' | 'application'> & { redirect_to: To },
): LinkRequest & { redirect_to: To } {
  const { vouchers } = linkingOf(service);
  return { ...toLinkRequest({ link, application, resource }, described, vouchers), redirect_to };
}
