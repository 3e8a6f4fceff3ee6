package main

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// appendPost appends a POST of a JSON body.
func appendPost(b []byte, host, path, bearer, key string, body []byte) []byte {
	b = append(b, "POST "...)
	b = append(b, path...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, host...)
	b = append(b, "\r\nContent-Type: application/json\r\n"...)
	if bearer != "" {
		b = append(append(append(b, "Authorization: Bearer "...), bearer...), "\r\n"...)
	}
	if key != "" {
		b = append(append(append(b, "Idempotency-Key: "...), key...), "\r\n"...)
	}
	b = append(b, "Content-Length: "...)
	b = strconv.AppendInt(b, int64(len(body)), 10)
	b = append(b, "\r\n\r\n"...)
	return append(b, body...)
}

// keys makes the Idempotency-Keys of a run: a random half, then the number.
type keys struct{ run [8]byte }

func newKeys() keys {
	var k keys
	for i := range k.run {
		k.run[i] = byte(rand.Uint32())
	}
	return k
}

// append appends the n-th key, a UUID.
func (k keys) append(b []byte, n uint64) []byte {
	id := [16]byte{8: 0x80}
	copy(id[:8], k.run[:])
	id[6] = id[6]&0x0f | 0x40 // version 4
	for i := range 7 {
		id[15-i] = byte(n >> (8 * i))
	}
	b = hex.AppendEncode(b, id[:4])
	for _, part := range [][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		b = hex.AppendEncode(append(b, '-'), part)
	}
	return b
}

// orders returns a function that makes one-ticket orders, each under a key and e-mail of its own,
// of the types in turn.
func orders(host, path string, types []string, k keys) request {
	return func(b []byte, n uint64) []byte {
		var key [36]byte
		var body [160]byte
		return appendPost(b, host, path, "", string(k.append(key[:0], n)), appendOrder(body[:0], types[n%uint64(len(types))], n))
	}
}

func appendOrder(b []byte, ticketType string, n uint64) []byte {
	return appendLines(b, []string{ticketType}, n)
}

// appendLines appends an order with a line for each type.
func appendLines(b []byte, types []string, n uint64) []byte {
	b = append(b, `{"items":[`...)
	for i, id := range types {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"ticketTypeId":"`...), id...), `","quantity":1}`...)
	}
	b = append(b, `],"guestEmail":"b`...)
	b = strconv.AppendUint(b, n, 10)
	return append(b, `@load.test","guestName":"Load Buyer"}`...)
}

// scans returns a function that makes one scan of each ticket, by many devices.
func scans(host, bearer, event string, codes []string, first uint64) request {
	return func(b []byte, n uint64) []byte {
		i := n - first
		if i >= uint64(len(codes)) {
			return b
		}
		body := fmt.Appendf(nil, `{"qrData":%q,"eventId":%q,"gateName":"gate %d","deviceId":"device %d"}`, codes[i], event, i%8, i%64)
		return appendPost(b, host, "/api/v1/checkin/scan", bearer, "", body)
	}
}
