package cluster

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

var rewrite = flag.Bool("rewrite", false, "write today's golden frames instead of comparing them")

var commandMethod = regexp.MustCompile(`(?m)^func \((\w+)\) Command\(\)`)

// Every type that is a command by its method is on the list of messages.
func TestEveryCommandIsOnTheList(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for _, c := range all.Commands {
		listed[typeName(c)] = true
	}
	var found int
	require.NoError(t, filepath.WalkDir("../engine", func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range commandMethod.FindAllStringSubmatch(string(source), -1) {
			name := filepath.Base(filepath.Dir(path)) + "." + m[1]
			require.True(t, listed[name], "%s is a command and not in engine/all", name)
			found++
		}
		return nil
	}))
	require.Equal(t, len(all.Commands), found)
}

// A type is sent under the name that it had in the release before, and no name stands for two types.
func TestFormerNames(t *testing.T) {
	t.Parallel()
	named := map[string]string{}
	name := func(name, typ string) {
		require.Empty(t, named[name], "%s stands for %s and for %s", name, named[name], typ)
		named[name] = typ
	}
	for _, m := range slices.Concat(toAny(all.Commands), toAny(all.Replies), all.Details) {
		if typ := typeName(m); named[typ] == "" {
			for _, one := range append([]string{typ}, all.FormerNames[typ]...) {
				name(one, typ)
			}
		}
	}
	for typ := range all.FormerNames {
		require.Equal(t, typ, named[typ], "no message has this type")
	}
}

func toAny[T any](list []T) (out []any) {
	for _, one := range list {
		out = append(out, one)
	}
	return out
}

// A message is the same on the other side, whatever its fields hold: a type with
// a field that does not cross is no message.
func TestMessagesCross(t *testing.T) {
	t.Parallel()
	var messages []any
	for _, c := range all.Commands {
		messages = append(messages, c)
	}
	for _, r := range all.Replies {
		messages = append(messages, r)
	}
	for _, m := range messages {
		v := reflect.New(reflect.TypeOf(m)).Elem()
		fill(v, 1)
		var w writer
		require.NoError(t, w.message(v.Interface()))
		got, err := (&reader{b: w.Bytes()}).message()
		require.NoError(t, err, messageName(m))
		require.Equal(t, v.Interface(), got, messageName(m))
	}
	for _, d := range all.Details {
		v := reflect.New(reflect.TypeOf(d)).Elem()
		fill(v, 1)
		want := &engine.Refusal{Code: engine.Conflict, Message: "no", Details: v.Interface(), Retry: 3}
		var w writer
		require.NoError(t, w.refusal(want))
		got, err := (&reader{b: w.Bytes()}).refusal()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// fill sets everything in a value to something that is not zero.
func fill(v reflect.Value, depth int) {
	switch v.Kind() { //nolint:exhaustive // others panic
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, depth+1) // panics on a field that is not exported: it would be lost
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i), depth+1)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprintf("t%d", depth))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(1.5)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(depth))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(depth)) //nolint:gosec // small
	case reflect.Interface: // of a refusal within a command
		v.Set(reflect.ValueOf(map[string]any{"a": "b"}))
	default:
		panic("no such message: " + v.Type().String())
	}
}

// golden are frames as a release before this one wrote them: they are read by
// this one, and written the same.
func TestGoldenFrames(t *testing.T) {
	t.Parallel()
	id := engine.NewID(42, []byte("0123456789"))
	frames := []struct {
		name  string
		build func(w *writer) error
		read  func(r *reader) (any, error)
		want  any
	}{
		{"ask", func(w *writer) error {
			w.beginFrame(frameAsk)
			w.number(7)
			w.number(15_000)
			w.ref(engine.EventRef(42))
			return w.message(ledger.Place{Order: id, Email: "a@example.org", Customer: 9, Lines: []order.Line{{Type: 3, Quantity: 2}}})
		}, func(r *reader) (any, error) {
			require.EqualValues(t, 7, r.number())
			require.EqualValues(t, 15_000, r.number())
			require.Equal(t, engine.EventRef(42), r.ref())
			return r.command()
		}, ledger.Place{Order: id, Email: "a@example.org", Customer: 9, Lines: []order.Line{{Type: 3, Quantity: 2}}}},
		{"tell", func(w *writer) error {
			w.beginFrame(frameTell)
			w.ref(engine.InventoryRef(42, 3))
			return w.message(keeper.Commit{Claim: keeper.Claim{Order: id, Serial: 5}, Floor: 2})
		}, func(r *reader) (any, error) {
			require.Equal(t, engine.InventoryRef(42, 3), r.ref())
			return r.command()
		}, keeper.Commit{Claim: keeper.Claim{Order: id, Serial: 5}, Floor: 2}},
		{"reply", func(w *writer) error {
			w.beginFrame(frameReply)
			w.number(7)
			_ = w.WriteByte(outcomeReply)
			return w.message(&inventory.Record{Ref: engine.InventoryRef(42, 3), Sold: 4, Available: 6, Revision: 1})
		}, func(r *reader) (any, error) {
			require.EqualValues(t, 7, r.number())
			require.Equal(t, outcomeReply, r.byte())
			return r.message()
		}, &inventory.Record{Ref: engine.InventoryRef(42, 3), Sold: 4, Available: 6, Revision: 1}},
		{"refusal", func(w *writer) error {
			w.beginFrame(frameReply)
			w.number(7)
			_ = w.WriteByte(outcomeRefusal)
			return w.refusal(&engine.Refusal{Code: engine.TicketSoldOut, Details: keeper.OutOfStock{TicketTypeID: "x", Requested: 2, Available: 1}})
		}, func(r *reader) (any, error) {
			require.EqualValues(t, 7, r.number())
			require.Equal(t, outcomeRefusal, r.byte())
			return r.refusal()
		}, &engine.Refusal{Code: engine.TicketSoldOut, Details: keeper.OutOfStock{TicketTypeID: "x", Requested: 2, Available: 1}}},
	}
	for _, f := range frames {
		var w writer
		require.NoError(t, f.build(&w))
		w.endFrame()
		path := filepath.Join("testdata", f.name+".frame")
		if *rewrite {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, w.Bytes(), 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, golden, w.Bytes(), "%s is written in another way: older nodes must still understand it", f.name)
		got, err := f.read(&reader{b: golden[5:]})
		require.NoError(t, err)
		require.Equal(t, f.want, got)
	}
}

// A message that no node takes fails where it is encoded, by itself, and the frames beside it are sent.
func TestTooLargeAMessage(t *testing.T) {
	t.Parallel()
	var w writer
	w.beginFrame(framePing)
	w.endFrame()
	small := w.Len()
	text := strings.Repeat("x", maxFrame)
	w.beginFrame(frameTell)
	w.ref(engine.EventRef(1))
	require.ErrorIs(t, w.message(event.Move{To: text}), errLarge)
	w.undoFrame()
	w.beginFrame(frameReply)
	require.ErrorIs(t, w.refusal(&engine.Refusal{Code: engine.Internal, Message: text}), errLarge)
	w.undoFrame()
	require.Equal(t, small, w.Len())
}

// A stranger that announces a large hello gets no memory for it, and is not waited for.
func TestTooLargeAHello(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	defer far.Close()
	go func() { _, _ = far.Write([]byte{0, 16, 0, 0, frameHello}) }() // announces 1 MB and sends nothing of it
	l := newLink(near)
	_, err := l.readHello(bufio.NewReader(near), "a", "")
	require.ErrorIs(t, err, errFrame)
	l.breakLink(err)
}

// What a newer node sends is refused by itself, or read as far as it is known.
func TestNewerMessages(t *testing.T) {
	t.Parallel()
	var w writer
	w.text("event.Juggle")
	_, err := (&reader{b: w.Bytes()}).command()
	require.ErrorContains(t, err, "event.Juggle")

	w = writer{}
	require.NoError(t, w.refusal(&engine.Refusal{Code: "NEWER", Details: struct {
		Much int `json:"much"`
	}{3}}))
	r, err := (&reader{b: w.Bytes()}).refusal()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"much": uint64(3)}, r.Details)
}

// A frame that is cut short or made up is an error, never a panic.
func FuzzFrames(f *testing.F) {
	for _, path := range []string{"ask", "tell", "reply", "refusal"} {
		b, err := os.ReadFile(filepath.Join("testdata", path+".frame"))
		require.NoError(f, err)
		f.Add(b[5:])
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		for _, read := range []func(r *reader){
			func(r *reader) { r.number(); r.number(); r.ref(); _, _ = r.command() },
			func(r *reader) { r.ref(); _, _ = r.command() },
			func(r *reader) { r.number(); r.byte(); _, _ = r.message() },
			func(r *reader) { r.number(); r.byte(); _, _ = r.refusal() },
			func(r *reader) { r.ref(); r.number(); r.bytes(); r.text() },
		} {
			read(&reader{b: slices.Clone(b)})
		}
	})
}
