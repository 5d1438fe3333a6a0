/** What a client knows of an authorization server. */
interface Discovered {
  authorizationServerUrl: string;
}

/** What an MCP client keeps: the `OAuthClientProvider` of the official SDK, in version 1 and 2. */
export class Link {
  readonly redirectUrl: string;
  readonly clientMetadata: { redirect_uris: string[] };
  readonly clientMetadataUrl?: string;
  client: { client_id: string; issuer?: string } | undefined;
  grant: { access_token: string; token_type: string; scope?: string } | undefined;
  /** Where the SDK sends the user's browser, oldest first. */
  readonly authorizationUrls: string[] = [];
  #verifier = '';
  #discovered: Discovered | undefined;

  /**
   * @param known - the address of the client's document, or the id that it is registered with, and
   *   where. Without it, the client registers itself
   */
  constructor(redirectUrl: string, known?: { document: string } | { id: string; issuer: string }) {
    this.redirectUrl = redirectUrl;
    this.clientMetadata = { redirect_uris: [redirectUrl] };
    if (known === undefined) return;
    if ('document' in known) this.clientMetadataUrl = known.document;
    else this.client = { client_id: known.id, issuer: known.issuer };
  }
  state = () => 'the-state-of-the-client';
  clientInformation = () => this.client;
  saveClientInformation = (client: NonNullable<Link['client']>) => {
    this.client = client;
  };
  codeVerifier = () => this.#verifier;
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  discoveryState = () => this.#discovered;
  saveDiscoveryState = (discovered: Discovered) => {
    this.#discovered = discovered;
  };
  redirectToAuthorization = ({ href }: URL) => {
    this.authorizationUrls.push(href);
  };
  tokens = () => this.grant;
  saveTokens = (tokens: NonNullable<Link['grant']>) => {
    this.grant = tokens;
  };
}
