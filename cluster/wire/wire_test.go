package wire

import (
	"flag"
	"fmt"
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
	require.NoError(t, filepath.WalkDir("../../engine", func(path string, _ os.DirEntry, err error) error {
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
		var w Writer
		require.NoError(t, w.AppendMessage(v.Interface()))
		got, err := NewReader(w.Bytes()).Message()
		require.NoError(t, err, messageName(m))
		require.Equal(t, v.Interface(), got, messageName(m))
	}
	for _, d := range all.Details {
		v := reflect.New(reflect.TypeOf(d)).Elem()
		fill(v, 1)
		want := &engine.Refusal{Code: engine.Conflict, Message: "no", Details: v.Interface(), Retry: 3}
		var w Writer
		require.NoError(t, w.AppendRefusal(want))
		got, err := NewReader(w.Bytes()).Refusal()
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
		build func(w *Writer) error
		read  func(r *Reader) (any, error)
		want  any
	}{
		{"ask", func(w *Writer) error {
			w.BeginFrame(FrameAsk)
			w.AppendNumber(7)
			w.AppendNumber(15_000)
			w.AppendRef(engine.EventRef(42))
			return w.AppendMessage(ledger.Place{Order: id, Email: "a@example.org", Customer: 9, Lines: []order.Line{{Type: 3, Quantity: 2}}})
		}, func(r *Reader) (any, error) {
			require.EqualValues(t, 7, r.Number())
			require.EqualValues(t, 15_000, r.Number())
			require.Equal(t, engine.EventRef(42), r.Ref())
			return r.Command()
		}, ledger.Place{Order: id, Email: "a@example.org", Customer: 9, Lines: []order.Line{{Type: 3, Quantity: 2}}}},
		{"tell", func(w *Writer) error {
			w.BeginFrame(FrameTell)
			w.AppendRef(engine.InventoryRef(42, 3))
			return w.AppendMessage(keeper.Commit{Claim: keeper.Claim{Order: id, Serial: 5}, Floor: 2})
		}, func(r *Reader) (any, error) {
			require.Equal(t, engine.InventoryRef(42, 3), r.Ref())
			return r.Command()
		}, keeper.Commit{Claim: keeper.Claim{Order: id, Serial: 5}, Floor: 2}},
		{"reply", func(w *Writer) error {
			w.BeginFrame(FrameReply)
			w.AppendNumber(7)
			_ = w.WriteByte(OutcomeReply)
			return w.AppendMessage(&inventory.Record{Ref: engine.InventoryRef(42, 3), Sold: 4, Available: 6, Revision: 1})
		}, func(r *Reader) (any, error) {
			require.EqualValues(t, 7, r.Number())
			require.Equal(t, OutcomeReply, r.Byte())
			return r.Message()
		}, &inventory.Record{Ref: engine.InventoryRef(42, 3), Sold: 4, Available: 6, Revision: 1}},
		{"refusal", func(w *Writer) error {
			w.BeginFrame(FrameReply)
			w.AppendNumber(7)
			_ = w.WriteByte(OutcomeRefusal)
			return w.AppendRefusal(&engine.Refusal{Code: engine.TicketSoldOut, Details: keeper.OutOfStock{TicketTypeID: "x", Requested: 2, Available: 1}})
		}, func(r *Reader) (any, error) {
			require.EqualValues(t, 7, r.Number())
			require.Equal(t, OutcomeRefusal, r.Byte())
			return r.Refusal()
		}, &engine.Refusal{Code: engine.TicketSoldOut, Details: keeper.OutOfStock{TicketTypeID: "x", Requested: 2, Available: 1}}},
	}
	for _, f := range frames {
		var w Writer
		require.NoError(t, f.build(&w))
		w.EndFrame()
		path := filepath.Join("testdata", f.name+".frame")
		if *rewrite {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, w.Bytes(), 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, golden, w.Bytes(), "%s is written in another way: older nodes must still understand it", f.name)
		got, err := f.read(NewReader(golden[5:]))
		require.NoError(t, err)
		require.Equal(t, f.want, got)
	}
}

// A message that no node takes fails where it is encoded, by itself, and the frames beside it are sent.
func TestTooLargeAMessage(t *testing.T) {
	t.Parallel()
	var w Writer
	w.BeginFrame(FramePing)
	w.EndFrame()
	small := w.Len()
	text := strings.Repeat("x", MaxFrame)
	w.BeginFrame(FrameTell)
	w.AppendRef(engine.EventRef(1))
	require.ErrorIs(t, w.AppendMessage(event.Move{To: text}), errLarge)
	w.UndoFrame()
	w.BeginFrame(FrameReply)
	require.ErrorIs(t, w.AppendRefusal(&engine.Refusal{Code: engine.Internal, Message: text}), errLarge)
	w.UndoFrame()
	require.Equal(t, small, w.Len())
}

// What a newer node sends is refused by itself, or read as far as it is known.
func TestNewerMessages(t *testing.T) {
	t.Parallel()
	var w Writer
	w.AppendText("event.Juggle")
	_, err := NewReader(w.Bytes()).Command()
	require.ErrorContains(t, err, "event.Juggle")

	w = Writer{}
	require.NoError(t, w.AppendRefusal(&engine.Refusal{Code: "NEWER", Details: struct {
		Much int `json:"much"`
	}{3}}))
	r, err := NewReader(w.Bytes()).Refusal()
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
		for _, read := range []func(r *Reader){
			func(r *Reader) { r.Number(); r.Number(); r.Ref(); _, _ = r.Command() },
			func(r *Reader) { r.Ref(); _, _ = r.Command() },
			func(r *Reader) { r.Number(); r.Byte(); _, _ = r.Message() },
			func(r *Reader) { r.Number(); r.Byte(); _, _ = r.Refusal() },
			func(r *Reader) { r.Ref(); r.Number(); r.Bytes(); r.Text() },
		} {
			read(NewReader(slices.Clone(b)))
		}
	})
}
