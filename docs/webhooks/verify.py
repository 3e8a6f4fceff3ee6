"""A receiver of webhooks: it verifies signatures, knows what it has seen, and
answers at once. Python 3.8 or later, no packages.

    WEBHOOK_SECRET=whsec_... PORT=9000 python3 verify.py
"""
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# How far a delivery's clock may be from ours, in seconds: an old one that
# somebody sends again is refused.
TOLERANCE = 300


def verify(secret, header, body, now=None):
    """Raise ValueError unless a delivery is from the service. The body is the raw
    one, in bytes, as it came: JSON that was parsed and written again is others."""
    parts = [part.partition("=") for part in (header or "").split(",")]
    at = next((value for name, _, value in parts if name == "t"), "")
    if not (at.isascii() and at.isdigit()):
        raise ValueError("no time in the signature")
    if abs((time.time() if now is None else now) - int(at)) > TOLERANCE:
        raise ValueError("the signature is too old")
    signed = at.encode() + b"." + body
    want = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()  # all of the secret, whsec_ too
    if not any(name == "v1" and hmac.compare_digest(value.encode(), want.encode()) for name, _, value in parts):
        raise ValueError("the signature is wrong")


seen = set()  # a unique index of your database, in earnest


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            verify(os.environ["WEBHOOK_SECRET"], self.headers.get("X-Service-Signature"), body)
            event = json.loads(body)
        except ValueError as error:
            self.send_error(400, str(error))
            return
        if event["id"] in seen:
            self.send_response(200)  # a retry: it was taken in before
        else:
            seen.add(event["id"])
            # Put the event into a queue of your own here, and work at it after the answer.
            self.send_response(204)
        self.end_headers()

    def log_message(self, *args):
        pass


if __name__ == "__main__":
    if not os.environ.get("WEBHOOK_SECRET"):
        sys.exit("WEBHOOK_SECRET is empty: anybody could sign with it")
    ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()
