"""A client with the official SDK, which leaves the browser and the callback to its user."""

import asyncio
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import httpx2
from calls import call_until_told
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class Callback(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.query |= parse_qs(urlsplit(self.path).query)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"You can close this page.")

    def log_message(self, *_):
        pass


class Memory:
    tokens = None
    client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def open_browser(url):
    print(url, flush=True)


async def main():
    server = HTTPServer(("127.0.0.1", 0), Callback)
    redirect_uris = [f"http://127.0.0.1:{server.server_port}/callback"]

    async def wait_for_callback():
        server.query = {}
        # A browser asks for an icon, too.
        while "code" not in server.query:
            await asyncio.to_thread(server.handle_request)
        query = server.query
        return AuthorizationCodeResult(
            code=query["code"][0], state=query["state"][0], iss=query["iss"][0]
        )

    url = os.environ["MCP_URL"]
    provider = OAuthClientProvider(
        url,
        OAuthClientMetadata(redirect_uris=redirect_uris),
        Memory(),
        open_browser,
        wait_for_callback,
        client_metadata_url=os.environ["CLIENT_DOCUMENT"],
    )
    async with httpx2.AsyncClient(auth=provider) as http:
        async with Client(streamable_http_client(url, http_client=http)) as client:
            await call_until_told(client)


asyncio.run(main())
