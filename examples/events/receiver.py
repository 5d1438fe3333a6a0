"""Hears when links end, with `pip install standardwebhooks`.

    python3 examples/events/receiver.py

Reads LATCHKEY_EVENTS_SECRET and PORT from the environment.
"""

import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ['LATCHKEY_EVENTS_SECRET'])


class Application(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get('Content-Length', 0))
        if not 0 <= length <= 65_536:
            return self.answer(413)
        body = self.rfile.read(length)
        try:
            event = webhook.verify(body, dict(self.headers))
        except (WebhookVerificationError, ValueError):
            return self.answer(400)
        if event['type'] == 'grant.revoked':
            print('ended:', event['data']['grant_id'], flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.end_headers()


ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), Application).serve_forever()
