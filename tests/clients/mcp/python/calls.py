"""What each client does: it calls the tool, and again with each line that it is told."""

import asyncio
import sys


async def call_until_told(client):
    while True:
        result = await client.call_tool("list_notes")
        print(result.content[0].text, flush=True)
        if not await asyncio.to_thread(sys.stdin.readline):
            return
