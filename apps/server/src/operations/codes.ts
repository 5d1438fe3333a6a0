import { cancelCode } from '@latchkey/rules/grants/cancel-code';
import { issueCode } from '@latchkey/rules/grants/issue-code';
import { choiceOf } from '@latchkey/rules/linking/choice';
import { registeredResource } from '@latchkey/rules/resources/find-resource';
import type { OperationRows } from './row.ts';
import { toCancelledCode, toCodeMembers } from './wire.ts';

export const codeRows: OperationRows<'admin.codes'> = {
  'admin.codes.issue': {
    audited: 'always',
    ids: {
      application_id: 'input.application_id',
      account_id: 'input.account_id',
      grant_id: 'output.grant_id',
    },
    handle: async (service, input, _operator, initiator, { publicUrl }) => {
      const { resource: named, choice: chosen, ...request } = input;
      const resource =
        named === undefined ? null : await registeredResource(service.store, named, publicUrl());
      const choice = chosen && choiceOf(chosen);
      const asked = { ...request, resource, choice };
      const { code, pending } = await issueCode(service, asked, initiator);
      return { object: 'grant_code', code, ...toCodeMembers(pending) };
    },
  },
  'admin.codes.cancel': {
    audited: 'always',
    ids: {
      grant_id: 'input.grant_id',
      application_id: 'output.application_id',
      account_id: 'output.account_id',
    },
    handle: async (service, { grant_id }) => toCancelledCode(await cancelCode(service, grant_id)),
  },
};
