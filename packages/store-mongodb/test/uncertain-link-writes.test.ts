import { generationsAfter } from '@latchkey/store/generations';
import type { Store } from '@latchkey/store/store';
import { toStoredSecret } from '@latchkey/store/stored-secrets';
import {
  aConsentPage,
  aHash,
  aKey,
  aLink,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  aPage,
  approvalOf,
  aResource,
  aScope,
  identificationOf,
} from '@latchkey/store-suite/records';
import type { Document } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { fromId, toHash, toId } from '../src/values.ts';
import { applicationDocument, documentOfAccount, linkDocument, pageDocument } from './documents.ts';
import { batch, type ScriptedServer } from './scripted-server.ts';
import { scripted } from './scripted-store.ts';

const account = anAccount();
const accountDocument = documentOfAccount(account);
const erasedDocument = {
  _id: toId(account.id),
  ...{ erased_at: new Date(1), revision: 1 },
};
const link = aLink();
const page = aConsentPage(link, { account_id: account.id });
const keptDocument = pageDocument(page);
const identifiedDocument = {
  ...linkDocument(link),
  ...{ account_id: toId(account.id), page_id: toId(page.id), revision: 1 },
};

/** The document as the last command that the server received makes it. */
function changedBy(server: ScriptedServer, document: Document): Document {
  const { $set, $unset = {}, $inc = {} } = server.sent('findAndModify').at(-1)?.update ?? {};
  const kept = Object.entries({ ...document, ...$set }).filter(([name]) => !(name in $unset));
  const counted = Object.entries($inc).map(([name, by]) => [
    name,
    (document[name] ?? 0) + (by as number),
  ]);
  return Object.fromEntries([...kept, ...counted]);
}

const denied = { status: 'denied', decided_by: toId(link.id), decided_at: new Date(1) };

/** Each write that turns one state into another, with what the other calls of its kind make of it. */
const changes: Record<
  string,
  { before: Document; call: (store: Store) => Promise<unknown>; rival: Document }
> = {
  'an identification': {
    before: linkDocument(link),
    call: (store) => store.identifyLink(identificationOf(link, page)),
    rival: denied,
  },
  'a request for another account': {
    before: identifiedDocument,
    call: (store) =>
      store.switchLink({
        link_id: link.id,
        page_id: page.id,
        link_hash: aHash(),
        now: 0,
        initiator: anInitiator(),
      }),
    rival: { link_hash: toHash(aHash()), page_id: toId(anId()) },
  },
  'a decision': {
    before: identifiedDocument,
    call: (store) => store.decideLink(approvalOf(link, account.id, page)),
    rival: denied,
  },
};

/** Answers with the account, then with the record of the write. */
function answer(server: ScriptedServer, record: () => Document | null) {
  server.on('find', ({ find, filter }) => {
    if (find === 'accounts') return batch(accountDocument);
    const found = record();
    const isLeftOut =
      found === null ||
      ('status' in filter && found.status) ||
      ('page_id' in filter &&
        (found.page_id === undefined || fromId(found.page_id) !== fromId(filter.page_id)));
    return batch(...(isLeftOut ? [] : [found]));
  });
}

const isSent = (server: ScriptedServer) => server.sent('findAndModify').length > 0;

/** Loses the response to the write that is tested. */
function lose(server: ScriptedServer, then: () => Document | 'close' = () => 'close') {
  let lost = false;
  server.on('findAndModify', () => {
    if (lost) return then();
    lost = true;
    return 'close';
  });
}

describe.each(Object.entries(changes))('%s whose response is lost', (_, change) => {
  const { before, call, rival } = change;

  test('was made: returns the record that is read back', async () => {
    const { server, store } = await scripted();
    lose(server);
    answer(server, () => changedBy(server, before));
    expect(await call(store)).not.toBeNull();
    expect(server.sent('findAndModify')).toHaveLength(1);
  });

  test('was not made: is sent again unchanged', async () => {
    const { server, store } = await scripted();
    lose(server, () => ({ value: changedBy(server, before) }));
    answer(server, () => before);
    expect(await call(store)).not.toBeNull();
    const sent = server.sent('findAndModify');
    expect(sent).toHaveLength(2);
    expect(sent[1]?.query).toEqual(sent[0]?.query);
    expect(sent[1]?.update).toEqual(sent[0]?.update);
  });

  test('arrives between the read and the repetition: returns the record that is read back', async () => {
    const { server, store } = await scripted();
    let repeated = false;
    lose(server, () => {
      repeated = true;
      return { value: null };
    });
    answer(server, () => (repeated ? changedBy(server, before) : before));
    expect(await call(store)).not.toBeNull();
  });

  test('came after another: returns null', async () => {
    const { server, store } = await scripted();
    lose(server, () => ({ value: null }));
    answer(server, () => ({ ...before, ...rival }));
    expect(await call(store)).toBeNull();
  });

  test('finds no record any more: returns null', async () => {
    const { server, store } = await scripted();
    lose(server);
    answer(server, () => null);
    expect(await call(store)).toBeNull();
  });
});

describe('an identification', () => {
  test('that another overtook is unknown, and does not replace the other page', async () => {
    const { server, store } = await scripted();
    lose(server);
    const overtaken = { ...identifiedDocument, page_id: toId(anId()) };
    answer(server, () => (isSent(server) ? overtaken : linkDocument(link)));
    await expect(store.identifyLink(identificationOf(link, page))).rejects.toMatchObject({
      code: 'outcome_unknown',
    });
    const [sent, ...others] = server.sent('findAndModify');
    // Late, it finds the revision raised.
    expect(sent?.query.revision).toEqual({ $exists: false });
    expect(sent?.update.$inc).toEqual({ revision: 1 });
    expect(others).toEqual([]);
  });

  test('of one that was identified before names the revision that it changes', async () => {
    const { server, store } = await scripted();
    server.script('findAndModify', { value: identifiedDocument });
    answer(server, () => identifiedDocument);
    expect(await store.identifyLink(identificationOf(link, page))).not.toBeNull();
    const revisions = server.sent('findAndModify').map(({ query }) => query.revision);
    expect(revisions).toEqual([1]);
  });

  test('does nothing to the link request if the account was erased before the page was stored', async () => {
    const { server, store } = await scripted();
    server.script('find', batch(accountDocument), batch(erasedDocument));
    expect(await store.identifyLink(identificationOf(link, page))).toBeNull();
    expect(server.sent('findAndModify')).toEqual([]);
    expect(server.sent('delete').map(({ deletes }) => deletes[0].q)).toEqual([
      { _id: toId(page.id) },
    ]);
  });

  test('does nothing to the link request if an erasure deletes the page of an account that was put again', async () => {
    const { server, store } = await scripted();
    server.script('find', batch(accountDocument), batch({ ...accountDocument, revision: 2 }));
    server.script('update', { n: 0, nModified: 0 });
    expect(await store.identifyLink(identificationOf(link, page))).toBeNull();
    const [noted, ...others] = server.sent('update');
    expect(noted).toMatchObject({ update: 'pages' });
    expect(noted?.updates).toMatchObject([
      {
        q: { _id: toId(page.id), account_revision: { $exists: false } },
        u: { $set: { account_revision: 2 } },
      },
    ]);
    expect(noted?.updates[0]).not.toHaveProperty('upsert', true);
    expect(others).toEqual([]);
    expect(server.sent('findAndModify')).toEqual([]);
  });
});

describe('a request for another account', () => {
  const switching = (store: Store) =>
    store.switchLink({
      link_id: link.id,
      page_id: page.id,
      link_hash: aHash(),
      now: 0,
      initiator: anInitiator(),
    });

  test('that another overtook is unknown, and does not replace the other link', async () => {
    const { server, store } = await scripted();
    lose(server);
    const overtaken = { ...identifiedDocument, link_hash: toHash(aHash()), revision: 2 };
    answer(server, () => (isSent(server) ? overtaken : identifiedDocument));
    await expect(switching(store)).rejects.toMatchObject({ code: 'outcome_unknown' });
    const [sent, ...others] = server.sent('findAndModify');
    // Late, it finds the revision raised.
    expect(sent?.query.revision).toBe(1);
    expect(sent?.update.$inc).toEqual({ revision: 1 });
    expect(others).toEqual([]);
  });

  test('of a link request that was changed before names the revision that it changes', async () => {
    const { server, store } = await scripted();
    const before = { ...identifiedDocument, revision: 2 };
    server.script('findAndModify', { value: before });
    answer(server, () => before);
    expect(await switching(store)).not.toBeNull();
    const revisions = server.sent('findAndModify').map(({ query }) => query.revision);
    expect(revisions).toEqual([2]);
  });
});

describe('what was kept, and whose response is lost,', () => {
  const kept: Record<string, (store: Store) => Promise<unknown>> = {
    'a link request': (store) => store.createLink({ ...link, initiator: anInitiator() }),
    'a page': (store) =>
      store.createPage({ ...aPage({ account_id: account.id }), initiator: anInitiator() }),
  };

  test.each(Object.entries(kept))('%s, is read back', async (_, call) => {
    const { server, store } = await scripted();
    server.script('insert', 'close');
    server.script('findAndModify', { value: keptDocument });
    answer(server, () => keptDocument);
    await call(store);
    expect(server.sent('insert')).toHaveLength(1);
  });

  // It could come after an erasure.
  test.each(Object.entries(kept))('%s, is never sent again', async (_, call) => {
    const { server, store } = await scripted();
    server.script('insert', 'close');
    server.on('find', ({ find }) => batch(...(find === 'accounts' ? [accountDocument] : [])));
    await expect(call(store)).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(server.sent('insert')).toHaveLength(1);
  });
});

describe('a change by the operator whose response is lost', () => {
  const record = anApplication();
  const application = applicationDocument(record);
  const scope = aScope();
  const { scope: name, ...texts } = scope;
  const described = { _id: name, ...texts, revision: 1 };

  test('to an application: is read back, unless another came after it', async () => {
    const changes = { name: 'Acme 2', redirect_uris: ['https://acme.example/b'] };
    const changed = { ...application, ...changes, generations: generationsAfter(record, changes) };
    for (const [found, outcome] of [
      [{ ...changed, revision: 1 }, 'made'],
      [{ ...changed, name: 'Acme 3', revision: 2 }, 'outcome_unknown'],
    ] as const) {
      const { server, store } = await scripted();
      server.script('update', 'close');
      server.script('find', batch(application), batch(found));
      const call = store.updateApplication(record.id, changes).then(
        (changed) => (changed?.name === changes.name ? 'made' : 'not made'),
        ({ code }) => code,
      );
      expect(await call).toBe(outcome);
      expect(server.sent('update')).toHaveLength(1);
      expect(server.sent('update')[0]?.updates[0].q.revision).toEqual({ $exists: false });
    }
  });

  test('to a resource: is read back, unless another came after it', async () => {
    const [resource, other] = [aResource(), aResource()];
    const [item, renamed] = [resource, { ...resource, name: 'x' }];
    const all = (revision: number, ...list: unknown[]) => ({ _id: 'all', list, revision });
    const rival = other;
    for (const [call, before, found, outcome] of [
      ['create', all(1), all(2, item), 'created'],
      ['create', all(1), all(3, item, rival), 'created'],
      ['create', all(1), all(2, rival), 'outcome_unknown'],
      ['update', all(1, item), all(3, rival, renamed), { ...resource, name: 'x' }],
      ['update', all(1, item), all(2, { ...item, name: 'y' }), 'outcome_unknown'],
      ['delete', all(1, item), all(3, rival), resource],
      ['delete', all(1, item), all(2, item, rival), 'outcome_unknown'],
    ] as const) {
      const { server, store } = await scripted();
      server.script('update', 'close');
      server.script('find', batch(before), batch(found));
      const made = {
        create: () => store.createResource(resource, { most: 2 }),
        update: () => store.updateResource(resource.id, { name: 'x' }),
        delete: () => store.deleteResource(resource.id),
      }[call]();
      expect(await made.catch(({ code }: { code: string }) => code)).toEqual(outcome);
      expect(server.sent('update')).toHaveLength(1);
      expect(server.sent('update')[0]?.updates[0].q).toMatchObject({ revision: 1 });
    }
  });

  test('to a key: is read back, unless another came after it', async () => {
    const [key, other] = [aKey(), aKey()];
    const [item, used] = [key, { ...key, last_used_at: 60_000 }].map(toStoredSecret);
    const all = (revision: number, ...list: unknown[]) => ({ _id: 'all', list, revision });
    const rival = toStoredSecret(other);
    for (const [call, before, found, outcome] of [
      ['create', all(1), all(3, item, rival), 'created'],
      ['create', all(1), all(2, rival), 'outcome_unknown'],
      ['delete', all(1, item), all(3, rival), key],
      ['delete', all(1, item), all(2, item, rival), 'outcome_unknown'],
      ['use', all(1, item), all(3, rival, used), undefined],
      ['use', all(1, item), all(2, item), 'outcome_unknown'],
    ] as const) {
      const { server, store } = await scripted();
      server.script('update', 'close');
      server.script('find', batch(before), batch(found));
      const made = {
        create: () => store.createKey(key, { most: 2, now: 0 }),
        delete: () => store.deleteKey(key.id),
        use: () => store.noteKeyUse(key.id, 60_000),
      }[call]();
      expect(await made.catch(({ code }: { code: string }) => code)).toEqual(outcome);
      expect(server.sent('update')[0]?.updates[0].q).toMatchObject({ revision: 1 });
    }
  });

  test('to a scope: is read back, unless another came after it', async () => {
    const mark = { _id: name, deleted_at: new Date(2), revision: 2 };
    for (const [call, before, found, outcome] of [
      ['put', described, { ...described, title: scope.title, revision: 2 }, 'put'],
      ['put', described, { ...described, title: 'x', revision: 3 }, 'outcome_unknown'],
      ['put', described, { ...mark, revision: 3 }, 'outcome_unknown'],
      ['delete', described, mark, scope],
      ['delete', described, { ...described, revision: 3 }, 'outcome_unknown'],
    ] as const) {
      const { server, store } = await scripted();
      server.script('update', 'close');
      server.script('find', batch(before), batch(found));
      const made = call === 'put' ? store.putScope(scope, { most: 1 }) : store.deleteScope(name);
      expect(await made.catch(({ code }) => code)).toEqual(outcome);
      expect(server.sent('update')).toHaveLength(1);
      expect(server.sent('update')[0]?.updates[0].q).toMatchObject({ revision: 1 });
    }
  });
});
