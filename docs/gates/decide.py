"""Decide at a gate without the network, from a manifest alone (docs/gates.md).

As a program it reads vectors on standard input and writes its verdicts.
"""
import base64
import hashlib
import json
import re
import sys
import unicodedata

SAME_SCAN = 2  # seconds in which a code that was let in is the same person


def clean(text):
    """Make a code of what a scanner read or a person typed: capitals, no blanks, dashes or unseen signs."""
    text = text.encode("utf-8", "replace")[:1024].decode("utf-8", "ignore")
    kept = (c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf", "Pd") and c != "\ufffd")
    text = "".join(c.upper() if "a" <= c <= "z" else c for c in kept)
    return re.sub(r"^(\][A-Z][0-9A-Z])+", "", text)


class Gate:
    def __init__(self):
        self.tickets, self.doors, self.own = {}, {}, {}
        self.manifest = None

    def apply(self, manifest):
        """Take in a manifest, or what changed since the last."""
        if manifest["full"]:
            self.tickets, self.doors = {}, {}
        for ticket in manifest["tickets"]:
            ticket = dict(ticket)
            if ticket["h"] in self.own and ticket["s"] in "ico":
                ticket["s"] = "o" if self.own[ticket["h"]][1] else "c"  # the service does not know yet
            self.tickets[ticket["h"]] = ticket
            if "k" in ticket:
                self.doors[ticket["k"]] = ticket
        self.manifest = manifest

    def hash(self, code, size):
        digest = hashlib.sha256((self.manifest["salt"] + "|" + code).encode()).digest()
        return base64.urlsafe_b64encode(digest[:size]).decode().rstrip("=")

    def decide(self, text, typed, at, out=False):
        """Say what a code gets at a moment in unix seconds, and note whom it lets in or out."""
        text = clean(text)
        parts = text.split(".")
        step, printed, door, remote, code = None, False, False, False, text
        if len(parts) == 4 and parts[0] == "V1" or len(parts) == 3 and parts[0] == "P1":
            remote = True  # of the release before: the manifest says nothing about them
        elif len(parts) == 4 and parts[0] == "V2" and re.fullmatch("[0-9]{1,12}", parts[2]):
            code, step = parts[1], int(parts[2])
        elif len(parts) == 3 and parts[0] == "P2":
            code, printed = parts[1], True
        elif len(text) == 6:
            door, printed = True, not typed
        elif typed and len(text) == 20:
            remote = True
        else:
            return "denied_wrong_event", ""
        if door and printed and self.manifest and self.manifest.get("rotatingOnly"):
            return "denied_expired", "ROTATING_ONLY"
        if self.manifest is None or remote or door and not self.manifest["offlineDoorCodes"]:
            return "undecided", ""  # only the service knows
        if door:
            ticket = self.doors.get(self.hash(code, 6))
        else:
            ticket = self.tickets.get(self.hash(code, 16))
        if ticket is None:
            return "denied_wrong_event", ""
        if out and not self.manifest.get("exits"):
            return "denied_not_inside", "EXITS_OFF"
        if ticket["s"] in "xr":
            return "denied_cancelled", ""
        if step is not None and abs(int(at) // 30 - step) > 1:
            return "denied_expired", ""
        if printed and self.manifest.get("rotatingOnly"):
            return "denied_expired", "ROTATING_ONLY"
        last, was_out = self.own.get(ticket["h"], (at - 60, out))
        if was_out == out and abs(at - last) <= SAME_SCAN:
            return "success", ""
        if out and ticket["s"] == "o":
            return "denied_not_inside", ""
        if out:  # whom no gate is known to have let in may have passed another one that is offline
            seen, self.own[ticket["h"]] = ticket["s"] == "c", (at, True)
            ticket["s"] = "o" if ticket["s"] in "ic" else ticket["s"]
            return "success", "" if seen else "NOT_SEEN"
        if ticket["s"] == "c":
            return "denied_duplicate", ""
        if ticket["s"] == "e":
            return "denied_expired", ""
        if at < ticket.get("a", 0):
            return "denied_expired", "NOT_YET"
        if "b" in ticket and at >= ticket["b"]:
            return "denied_expired", "OVER"
        ticket["s"], self.own[ticket["h"]] = "c", (at, False)
        return "success", ""


def main():
    verdicts = []
    for case in json.load(sys.stdin):
        gate = Gate()
        for step in case["steps"]:
            if "manifest" in step:
                gate.apply(step["manifest"])
            else:
                status, reason = gate.decide(step["text"], step.get("typed", False), step["at"], step.get("out", False))
                verdicts.append({"status": status, "reason": reason})
    json.dump(verdicts, sys.stdout)


if __name__ == "__main__":
    main()
