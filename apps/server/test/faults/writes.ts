import { randomUUID } from 'node:crypto';
import type { FullGrant, OperationName } from '@latchkey/schema';
import { type HttpResponse, invoke, type Json } from '../http/call.ts';
import { asBearer, type LinkedApplication } from '../http/linked-application.ts';
import { operator, type TestServer } from '../http/running-server.ts';

/** A write of the service, with everything made that it needs. */
export interface PreparedWrite {
  /** Calls it, of the service that fails. */
  call(): Promise<HttpResponse & { body: Json }>;
  /** Whether it was made. Asked of the database, around the service that fails. */
  isMade(answer: Json): Promise<boolean>;
  /** The grant that it is about, where it is about one that there is. */
  grant_id?: string;
}

type Prepare = (context: {
  server: TestServer;
  witness: TestServer;
  linked: LinkedApplication;
}) => Promise<PreparedWrite>;

const call = (
  server: TestServer,
  name: OperationName,
  input: Record<string, unknown>,
  authorization: string,
) => invoke(server, 'REST', name, input, authorization);

/** What is at rest of a grant. */
const stateOf = ({ service }: TestServer, grant_id: string) =>
  service.store.authenticateGrant(grant_id, { currentAccount: false });

const isRevoked = async (witness: TestServer, grant_id: string) =>
  (await stateOf(witness, grant_id))?.grant.revoked_at !== null;

async function ownApplication(witness: TestServer, name = 'Acme') {
  return (await call(witness, 'admin.applications.create', { name }, operator)).body;
}

/** Every operation that changes something, and the first use of a grant. */
export const writes: Record<string, Prepare> = {
  async convert({ server, witness, linked }) {
    const { code, grant_id } = await linked.issue();
    return {
      grant_id,
      call: () => call(server, 'grants.convert', { code }, linked.bearer),
      isMade: async () => (await stateOf(witness, grant_id)) !== null,
    };
  },

  async revoke({ server, witness, linked }) {
    const { grant_id } = await linked.link();
    return {
      grant_id,
      call: () => call(server, 'grants.revoke', { grant_id }, linked.bearer),
      isMade: () => isRevoked(witness, grant_id),
    };
  },

  async recover({ server, witness, linked }) {
    const { grant_id } = await linked.link();
    const before = await stateOf(witness, grant_id);
    return {
      grant_id,
      call: () => call(server, 'grants.recover', { grant_id }, linked.bearer),
      async isMade() {
        const { secret_hash } = (await stateOf(witness, grant_id)) ?? {};
        return Buffer.compare(secret_hash as Uint8Array, before?.secret_hash as Uint8Array) !== 0;
      },
    };
  },

  async 'first use'({ server, witness, linked }) {
    const grant: FullGrant = await linked.link();
    return {
      grant_id: grant.grant_id,
      call: () => call(server, 'account.grant', {}, asBearer(grant)),
      isMade: async () => (await stateOf(witness, grant.grant_id))?.first_used_at !== null,
    };
  },

  async issue({ server, witness, linked: { application_id, account_id } }) {
    const scope = randomUUID();
    const input = { application_id, account_id, scope };
    return {
      call: () => call(server, 'admin.codes.issue', input, operator),
      async isMade() {
        const codes = await witness.service.store.listCodes(account_id);
        return codes.some((code) => code.scope === scope);
      },
    };
  },

  async cancel({ server, witness, linked }) {
    const { grant_id } = await linked.issue();
    return {
      grant_id,
      call: () => call(server, 'admin.codes.cancel', { grant_id }, operator),
      isMade: async () => (await witness.service.store.findCode(grant_id)) === null,
    };
  },

  async 'revoke by the operator'({ server, witness, linked }) {
    const { grant_id } = await linked.link();
    return {
      grant_id,
      call: () => call(server, 'admin.grants.revoke', { grant_id }, operator),
      isMade: () => isRevoked(witness, grant_id),
    };
  },

  async 'create an application'({ server, witness }) {
    const name = randomUUID();
    return {
      call: () => call(server, 'admin.applications.create', { name }, operator),
      async isMade() {
        const { body } = await call(witness, 'admin.applications.list', {}, operator);
        return body.data.some((application: Json) => application.name === name);
      },
    };
  },

  async 'add a secret'({ server, witness }) {
    const { id: application_id } = await ownApplication(witness);
    return {
      call: () => call(server, 'admin.applications.secrets.create', { application_id }, operator),
      async isMade() {
        const application = await witness.service.store.findApplication(application_id);
        return application?.secrets.length === 2;
      },
    };
  },

  async 'remove a secret'({ server, witness }) {
    const { id: application_id, secrets } = await ownApplication(witness);
    const input = { application_id, secret_id: secrets[0].id };
    return {
      call: () => call(server, 'admin.applications.secrets.revoke', input, operator),
      async isMade() {
        const application = await witness.service.store.findApplication(application_id);
        return application?.secrets.length === 0;
      },
    };
  },

  async 'disable an application'({ server, witness }) {
    const { id: application_id } = await ownApplication(witness);
    return {
      call: () => call(server, 'admin.applications.disable', { application_id }, operator),
      isMade: async () =>
        (await witness.service.store.findApplication(application_id))?.disabled === true,
    };
  },

  async 'enable an application'({ server, witness }) {
    const { id: application_id } = await ownApplication(witness);
    await call(witness, 'admin.applications.disable', { application_id }, operator);
    return {
      call: () => call(server, 'admin.applications.enable', { application_id }, operator),
      isMade: async () =>
        (await witness.service.store.findApplication(application_id))?.disabled === false,
    };
  },

  async 'put an account'({ server, witness }) {
    const [account_id, username] = [randomUUID(), randomUUID()];
    await call(witness, 'admin.accounts.put', { account_id, username: 'ada' }, operator);
    return {
      call: () => call(server, 'admin.accounts.put', { account_id, username }, operator),
      isMade: async () =>
        (await witness.service.store.findAccount(account_id))?.username === username,
    };
  },
};
