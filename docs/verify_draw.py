#!/usr/bin/env python3
"""Checks a draw of a waiting room, written from docs/waiting-room.md alone, with the standard library.

    verify_draw.py draw.json [--receipt TEXT --proof proof.json] [--leaves leaves.txt] [--signer HEX]

It checks the statement's signature, its counts, and the round that its rules have to name. With a
receipt and its proof it checks both and prints the place; with the list of leaves, one in
hexadecimal a line, it checks their root and prints every place, one a line. It can't compute a
pairing: that the beacon has signed the round, look up at https://api.drand.sh/<chain>/public/<round>,
or let "boxoffice verify-draw" check it. Nor does it check the signature of an outside witness.
"""
import argparse
import base64
import hashlib
import hmac
import json
import sys

QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
CLASSES = ("none", "address", "account")


def sha(data):
    return hashlib.sha256(data).digest()


def field(data):
    return len(data).to_bytes(4, "big") + data


def number(n):
    return field(n.to_bytes(8, "big"))


def fields(s):
    rules = json.dumps(s["rules"], sort_keys=True, separators=(",", ":")).encode()
    return (field(s["event"].encode()) + number(s["draw"]) + field(sha(rules)) + field(bytes.fromhex(s["root"]))
            + number(s["count"]) + field(bytes.fromhex(s["rules"]["beaconChain"])) + number(s["rules"]["beaconRound"]))


# Ed25519 (RFC 8032, section 5.1.7), slowly.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    x1, y1, z1, t1 = a
    x2, y2, z2, t2 = b
    e, f = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    g, h = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, point):
    total = (0, 1, 1, 0)
    while n:
        if n & 1:
            total = add(total, point)
        point, n = add(point, point), n >> 1
    return total


def decompress(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (1 << 255) - 1
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or x == 0 and sign:
        raise ValueError("no point of the curve")
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def signed(key, message, signature):
    if len(key) != 32 or len(signature) != 64:
        return False
    try:
        a, r = decompress(key), decompress(signature[:32])
    except ValueError:
        return False
    s = int.from_bytes(signature[32:], "little")
    if s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    left, right = times(s, BASE), add(r, times(h, a))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def permutation(key, count):
    """Returns the function from an index to its place."""
    half = max(4, ((count - 1).bit_length() + 1) // 2)
    mask, known = (1 << half) - 1, {}

    def mix(r, value):
        if (r, value) not in known:
            mac = hmac.digest(key, bytes([r]) + value.to_bytes(4, "big"), "sha256")
            known[r, value] = int.from_bytes(mac[:4], "big") & mask
        return known[r, value]

    def place(index):
        while True:
            left, right = index >> half, index & mask
            for r in range(10):
                left, right = right, left ^ mix(r, right)
            index = left << half | right
            if index < count:
                return index

    return place


def root(leaves):
    """Returns the root by RFC 6962 over leaves that are hashes already."""
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha(b"\1" + root(leaves[:split]) + root(leaves[split:]))


def root_of_proof(leaf, index, count, proof):
    """Returns the root that an inclusion proof leads to (RFC 9162, section 2.1.3.2)."""
    fn, sn, h = index, count - 1, leaf
    for p in proof:
        if sn == 0:
            raise SystemExit("FALSE: the proof is too long")
        if fn & 1 or fn == sn:
            h = sha(b"\1" + p + h)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            h = sha(b"\1" + h + p)
        fn, sn = fn >> 1, sn >> 1
    if sn:
        raise SystemExit("FALSE: the proof is too short")
    return h


def check(holds, what):
    if not holds:
        raise SystemExit("FALSE: " + what)
    print("true: " + what, file=sys.stderr)


def check_statement(doc, signer):
    s, key = doc["statement"], bytes.fromhex(doc["signer"])
    check(signer is None or doc["signer"] == signer, "the statement is signed with the key that was named")
    counts = b"".join(number(s["byClass"][c]) for c in CLASSES)
    message = b"boxoffice-statement-1" + fields(s) + counts
    check(signed(key, message, bytes.fromhex(doc["signature"])), "the operator has signed the statement")
    if doc.get("witness"):
        check(sha(message) in base64.b64decode(doc["witness"]), "the witness's token is of the statement")
        print("NOT CHECKED: the token's signature and moment", file=sys.stderr)
    check(sum(s["byClass"].values()) == s["count"], "the counts by class add up")
    if s["rules"]["beaconChain"] == QUICKNET:
        due = s["rules"]["closesAt"] + 120_000 - 1_692_803_367_000
        check(s["rules"]["beaconRound"] == max(0, -(-due // 3000)) + 1, "the round is quicknet's first one 120 s after the closing")
    else:
        print("NOT CHECKED: the chain is not drand's quicknet" + (" but a test beacon" if s["testBeacon"] else ""), file=sys.stderr)
    return s, key


def check_receipt(text, s, key):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    body, signature = data[:-64], data[-64:]
    check(body[0] == 1 and body[1:9] == sha(key)[:8], "the receipt names the operator's key")
    check(signed(key, b"boxoffice-receipt-1" + body, signature), "the operator has signed the receipt")
    check(body[53:].decode() == s["event"] and int.from_bytes(body[9:13], "big") == s["draw"], "the receipt is for this draw")
    return body[21:53]


def read(path):
    """A file that has a document, or the answer of the service with the document as its data."""
    text = json.load(open(path))
    return text.get("data", text)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("draw")
    for name in ("receipt", "proof", "leaves", "signer"):
        args.add_argument("--" + name)
    args = args.parse_args()
    doc = read(args.draw)
    s, key = check_statement(doc, args.signer)
    if not doc["beacon"]:
        raise SystemExit("the beacon's round is not known yet")
    beacon = bytes.fromhex(doc["beacon"])
    place = permutation(sha(b"boxoffice-draw-1" + fields(s) + field(beacon)), s["count"])
    print("NOT CHECKED: the beacon's signature of round %d" % s["rules"]["beaconRound"], file=sys.stderr)
    if args.receipt:
        leaf, found = check_receipt(args.receipt, s, key), read(args.proof)
        proof = [bytes.fromhex(h) for h in found["proof"]]
        check(found["index"] < s["count"] and root_of_proof(leaf, found["index"], s["count"], proof).hex() == s["root"], "the receipt's leaf is under the root")
        print(place(found["index"]))
    if args.leaves:
        leaves = [bytes.fromhex(line) for line in open(args.leaves)]
        check(len(leaves) == s["count"] and root(leaves).hex() == s["root"], "the list of leaves is the one under the root")
        print("\n".join(str(place(i)) for i in range(s["count"])))


main()
