"""A client with FastMCP, which opens the browser and takes the callback itself."""

import asyncio
import os

from calls import call_until_told
from fastmcp.client import Client
from fastmcp.client.auth import OAuth


async def main():
    auth = OAuth(client_metadata_url=os.environ["CLIENT_DOCUMENT"])
    async with Client(os.environ["MCP_URL"], auth=auth) as client:
        await call_until_told(client)


asyncio.run(main())
