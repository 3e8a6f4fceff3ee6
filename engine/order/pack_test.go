package order

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// TestPacked packs orders with all sorts of values in all their fields, also those of their lists and of the records
// that may be missing, and unpacks them again.
func TestPacked(t *testing.T) {
	t.Parallel()
	orders := rapid.Make[Order]()
	rapid.Check(t, func(t *rapid.T) {
		o := orders.Draw(t, "order")
		emptied(reflect.ValueOf(&o).Elem())
		b := o.Pack(nil)
		again, err := Unpack(string(b))
		require.NoError(t, err)
		require.Equal(t, &o, again)
		require.Equal(t, o.ID, UnpackHead(string(b)).ID)
	})
}

// emptied makes empty lists nil, because packing does not tell them apart. It also clears the fields that no order
// has: its terms are in minor units of its currency, and what it books has been granted.
func emptied(v reflect.Value) {
	switch of := v.Addr().Interface().(type) {
	case *keeper.Discount:
		of.MoreDecimals = 0
	case *keeper.Booking:
		of.Beside = 0
	}
	switch v.Kind() { //nolint:exhaustive // values of other kinds hold no lists
	case reflect.Pointer:
		if !v.IsNil() {
			emptied(v.Elem())
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			emptied(f)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			v.SetZero()
		}
		for i := range v.Len() {
			emptied(v.Index(i))
		}
	}
}

// TestPackedBefore reads an order that was packed before its last field existed.
func TestPackedBefore(t *testing.T) {
	t.Parallel()
	o := &Order{Status: StatusPending, Email: "ada@example.org", Lines: []Line{{Type: 3, Quantity: 2, Seats: []string{"A-1", "A-2"}}}, Total: -5}
	b := o.Pack(nil)
	fields, end := b[0], len(b)-1 // the missing shopper takes one byte
	b[0] = fields - 1
	got, err := Unpack(string(b[:end]))
	require.NoError(t, err)
	require.Equal(t, o, got)

	b[0] = fields + 1
	_, err = Unpack(string(b))
	require.ErrorIs(t, err, ErrPacked, "of a later version than this one")
}

// TestPackedGolden reads an order that a release packed whose refunds had neither a note nor an asker. Without these
// the order is packed to the same bytes today.
func TestPackedGolden(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile("testdata/packed.txt")
	require.NoError(t, err)
	packed, err := hex.DecodeString(strings.TrimSpace(string(golden)))
	require.NoError(t, err)
	o := &Order{
		ID: engine.NumberedID(7, 3), Status: StatusCompleted, Email: "ada@example.org", Lines: []Line{{Type: 1, Name: "Stalls", Quantity: 3, UnitPrice: 2_000}},
		Currency: "EUR", Subtotal: 6_000, Total: 6_000, FirstTicket: 4, Attempts: []Attempt{{Reference: "r", Provider: "stripe", Received: 6_000}},
		Refunds: []Refund{
			{Reference: "r", Amount: 100, Reason: BackOverpaid, Status: RefundProcessed, ProcessedAt: 9},
			{Reference: "r", Amount: 2_000, Reason: "ill", Status: RefundRequested, Ask: &Ask{Tickets: []uint32{4}, By: AskedByBuyer, Message: "a fever"}},
			{Reference: "r", Amount: 300, Reason: BackDeposit, Status: RefundProcessing, Deposit: "d-1"},
		},
	}
	got, err := Unpack(string(packed))
	require.NoError(t, err)
	require.Equal(t, o, got)
	require.Equal(t, packed, o.Pack(nil))
}

// TestErasedAfterPacking erases a person who asked for a refund and then passed the ticket on. What the person wrote is
// erased too, although nothing but the refund's asker leads to it.
func TestErasedAfterPacking(t *testing.T) {
	t.Parallel()
	asker := CustomerOf("bob@example.org")
	o := &Order{
		Status: StatusCompleted, Email: "ada@example.org", FirstTicket: 4, Lines: []Line{{Quantity: 1}}, Holders: []Holder{{Ticket: 4, Version: 3, Email: "eve@example.org"}},
		Refunds: []Refund{{Reason: "ill", Status: RefundCancelled, Note: "sent by hand", Ask: &Ask{Tickets: []uint32{4}, By: AskedByBuyer, Message: "a fever", Asker: asker}}},
	}
	kept, err := Unpack(string(o.Pack(nil)))
	require.NoError(t, err)
	require.Equal(t, asker, kept.Refunds[0].CustomerOf(kept))
	r := kept.Erase(asker, Pseudonym("x")).Refunds[0]
	require.Empty(t, r.Reason+r.Note+r.Ask.Message)
}

// TestPackedBroken gives Unpack texts that Pack did not write.
func TestPackedBroken(t *testing.T) {
	t.Parallel()
	o := &Order{
		Status: StatusCompleted, Lines: []Line{{Seats: []string{"A-1"}}, {Name: "Stalls"}},
		Attempts: []Attempt{{Reference: "r"}}, Refunds: []Refund{{Reason: "late", Note: "by hand", Ask: &Ask{Tickets: []uint32{4}, By: "ada", Asker: 5}}}, Shopper: &Shopper{Holder: "h"},
	}
	b := o.Pack(nil)
	for n := range b {
		_, err := Unpack(string(b[:n]))
		require.ErrorIs(t, err, ErrPacked, "the first %d bytes", n)
	}
	_, err := Unpack(string(b) + "x")
	require.ErrorIs(t, err, ErrPacked)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 { // there must be no panic, and no list larger than its bytes
		broken := append([]byte(nil), b...)
		for range 1 + rng.IntN(3) {
			broken[rng.IntN(len(broken))] = byte(rng.Uint32())
		}
		_, _ = Unpack(string(broken))
	}
}

func BenchmarkPacked(b *testing.B) {
	o := &Order{
		Status: StatusPending, Email: "b123456@load.test", Name: "Load Buyer", Currency: "GHS",
		Lines: []Line{{Type: 3, Name: "General", Quantity: 1, UnitPrice: 5_000}}, CreatedAt: 1_795_340_000_000, ExpiresAt: 1_795_340_900_000,
	}
	packed := string(o.Pack(nil))
	b.Run("pack", func(b *testing.B) {
		b.ReportAllocs()
		var buf []byte
		for b.Loop() {
			buf = o.Pack(buf[:0])
		}
	})
	b.Run("unpack", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = Unpack(packed)
		}
	})
}

// TestPackedLater reads an order whose records have fields that only a newer
// release knows: they are skipped by their length.
func TestPackedLater(t *testing.T) {
	t.Parallel()
	o := &Order{
		Status: StatusCompleted, Email: "ada@example.org", Lines: []Line{{Name: "Stalls", Seats: []string{"A-1"}, Discount: 2}, {Name: "Gallery", Discount: 1}},
		Attempts: []Attempt{{Reference: "r"}}, Refunds: []Refund{{Reason: "late", Currency: "NGN", Note: "by hand", Ask: &Ask{Tickets: []uint32{4}, By: "ada"}}}, Shopper: &Shopper{Holder: "h"}, Total: -5, Discount: 3,
		Promo: &Promo{Code: "EARLY", Terms: &keeper.Discount{Value: 3}},
	}
	newer := func(b []byte) []byte { // adds two fields: one of three bytes and an empty one
		return append(append([]byte{b[0] + 2}, b[1:]...), 3, 'n', 'e', 'w', 0)
	}
	b := o.Pack(nil)
	for _, record := range []interface{ packed(p *packing) }{&o.Lines[0], &o.Lines[1], &o.Attempts[0], &o.Refunds[0], o.Shopper} {
		var p packing
		record.packed(&p)
		require.Equal(t, 1, bytes.Count(b, p.out))
		b = bytes.Replace(b, p.out, newer(p.out), 1)
	}
	b = newer(b)
	got, err := Unpack(string(b))
	require.NoError(t, err)
	require.Equal(t, o, got)
	require.Equal(t, o.Status, UnpackHead(string(b)).Status)
	for n := range b {
		_, err := Unpack(string(b[:n]))
		require.ErrorIs(t, err, ErrPacked, "the first %d bytes", n)
	}
}

// TestPackedLaterField writes and reads a field of each form with later: a reader that does not
// know the field can skip it.
func TestPackedLaterField(t *testing.T) {
	t.Parallel()
	number, flag, hash, lines := int64(-7), true, uint64(9), []Line{{Name: "Stalls"}}
	fields := []func(p *packing){
		func(p *packing) { p.packNumber(&number) }, func(p *packing) { p.packFlag(&flag) }, func(p *packing) { p.hash(&hash) },
		func(p *packing) { packList(p, &lines, (*Line).packed) },
	}
	for _, field := range fields {
		var w packing
		outer := w.beginRecord(1)
		packLater(&w, field)
		w.endRecord(outer)
		number, flag, hash, lines = 0, false, 0, nil

		r := packing{in: string(w.out), reading: true}
		outer = r.beginRecord(1)
		packLater(&r, field)
		r.endRecord(outer)
		require.False(t, r.broken)
		require.Empty(t, r.in)

		old := packing{in: string(w.out), reading: true}
		old.endRecord(old.beginRecord(0))
		require.False(t, old.broken)
		require.Empty(t, old.in)
		number, flag, hash, lines = max(number, -7), true, 9, []Line{{Name: "Stalls"}}
	}
}

// TestWithdrawable checks which buyers may withdraw, and until when.
func TestWithdrawable(t *testing.T) {
	t.Parallel()
	o := Order{Digital: true, FirstTicket: 1, EndedAt: 1000}
	require.EqualValues(t, 1000+14*24*60*60*1000, o.WithdrawableUntil())
	for _, not := range []Order{{FirstTicket: 1, EndedAt: 1000}, {Digital: true, EndedAt: 1000}, {Digital: true, FirstTicket: 1, EndedAt: 1000, WaivedAt: 1}} {
		require.Zero(t, not.WithdrawableUntil())
	}
}
