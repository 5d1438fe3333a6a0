import { requestOf } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { CALLBACK, CHALLENGE } from '../linking/link-flow.ts';
import type { Answer } from './history.ts';
import { type Answered, type Life, Load, type Made, type Wire } from './load.ts';

/** The addresses of the load are at another host, so only a pin admits them. */
export const DOCUMENTS = { CLIENT_DOCUMENTS: 'admitted.example' };

const CHANGES = 6;

const ERRORS_ON_PAGES =
  /client_unknown|client_document_unavailable|client_document_invalid|store_unavailable|outcome_unknown/;

interface KnownDocument {
  name: string;
  document_uri: string;
}

type Operation = 'pin' | 'unpin' | 'begin_link';

/** Pins, replaces and unpins client documents, and begins links with them on both servers meanwhile. */
export class DocumentLoad extends Load<KnownDocument, Operation> {
  protected readonly name = 'documents';
  protected readonly atOnce = 1;
  protected readonly reading = 'begin_link';

  protected async create(name: string): Promise<KnownDocument> {
    // Nobody listens there, where a link looks whose pin has just gone.
    return { name, document_uri: `https://localhost:1/${name}` };
  }

  protected async change(
    _document: KnownDocument,
    { random, ask, untilDone, pause }: Life<Operation>,
  ): Promise<void> {
    for (let made = 0; made < CHANGES && !this.isOver; made += 1) {
      await ask(random.weighted({ pin: 2, unpin: 1 }));
      await pause();
    }
    // Or there would be more pins than there may be.
    await untilDone('unpin');
  }

  protected override wiresOf(operation: Operation): readonly Wire[] {
    return operation === 'begin_link' ? ['REST'] : super.wiresOf(operation);
  }

  protected requestFor({ document_uri }: KnownDocument, { id, operation, wire }: Made<Operation>) {
    if (operation === 'begin_link') {
      const query = new URLSearchParams({
        ...{ client_id: document_uri, redirect_uri: CALLBACK, response_type: 'code' },
        ...{ scope: 'profile.read', code_challenge: CHALLENGE, code_challenge_method: 'S256' },
      });
      return { method: 'GET', path: `/oauth/authorize?${query}` };
    }
    const document = { client_id: document_uri, client_name: id, redirect_uris: [CALLBACK] };
    const request =
      operation === 'pin'
        ? requestOf(wire, 'admin.documents.pin', { document_uri, document })
        : requestOf(wire, 'admin.documents.unpin', { document_uri });
    return { ...request, authorization: operator };
  }

  protected override async answerOf(
    known: KnownDocument,
    made: Made<Operation>,
    reply: Answered,
  ): Promise<Answer | null> {
    if (made.operation !== 'begin_link') return super.answerOf(known, made, reply);
    const { status, headers, text } = reply;
    const link = URL.parse(headers.location ?? '')?.searchParams.get('link');
    if (link) {
      // A link keeps its document, so it may be read later. What that shows is the call of the pin.
      const read = await this.bodyOf(made.server, 'admin.links.read', { link });
      return read && { status: 200, shown: read.application.name };
    }
    const [error_code] = ERRORS_ON_PAGES.exec(text) ?? [];
    return { status, ...(error_code && { error_code }) };
  }
}
