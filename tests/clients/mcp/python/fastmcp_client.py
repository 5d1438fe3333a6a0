"""A client with FastMCP, which opens the browser and takes the callback itself."""

import asyncio
import os
import sys

from fastmcp.client import Client
from fastmcp.client.auth import OAuth


async def main():
    auth = OAuth(client_metadata_url=os.environ["CLIENT_DOCUMENT"])
    async with Client(os.environ["MCP_URL"], auth=auth) as client:
        while True:
            result = await client.call_tool("list_notes")
            print(result.content[0].text, flush=True)
            if not await asyncio.to_thread(sys.stdin.readline):
                return


asyncio.run(main())
