package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/fxamacker/cbor/v2"

	"boxoffice/engine"
	"boxoffice/engine/all"
)

// These are the frames that nodes send each other:
//
//	uint32 length of the rest | byte kind | body
//
// Numbers in a body are varints; names and bytes follow their length. Commands and replies are CBOR
// maps by field name. A field may be added, but never gets another meaning, so that two releases
// understand each other (tests hold golden frames).
const (
	frameHello     byte = 1  // protocol version, sender's and receiver's member id, revision, and the member to relay to if there is one: the first frame each way
	frameAsk       byte = 2  // call, milliseconds left, ref, name, command
	frameTell      byte = 3  // ref, name, command
	frameReply     byte = 4  // call, outcome, and name and reply or refusal
	frameYield     byte = 5  // call, ref: let the actor go, I am about to claim its stream
	frameFollow    byte = 6  // call, event: send me its facts as they are committed
	frameFacts     byte = 7  // ref, stream, first, last, facts as in the journal
	frameCommitted byte = 8  // writer, batch: what the replies after this frame depend on
	framePing      byte = 9  // nothing: the link is alive
	frameWrote     byte = 10 // call, caller: how far was the journal when you answered its last write
	framePositions byte = 11 // call, and writer and batch for each writer: the answer to frameWrote
)

// protocol is the version of the frames' form. Nodes of different versions refuse each other.
const protocol = 1

// revision counts the additions since the protocol began: first frameWrote with its answer, then links that a member
// relays. A node is asked for nothing that was added after its own revision.
const (
	revision      = 2
	revisionWrote = 1
	revisionRelay = 2
)

// frameHead is how many bytes of a frame come before its body: the length and the kind.
const frameHead = 5

// maxFrame is the most bytes of a frame's body: the seat map of a stadium takes about 5 MB.
const maxFrame = 64 << 20

// maxHello is the most bytes of the body of a hello, which has the ids of members. It comes before anything is known of
// the other side, so a stranger must not be able to claim much memory by it.
const maxHello = 4 << 10

// These are the outcomes of a call.
const (
	outcomeReply       byte = 0
	outcomeRefusal     byte = 1
	outcomeMoved       byte = 2 // ask again: the node is not the owner, or the activation ends and has answered nothing
	outcomeUnavailable byte = 3 // it may or may not have been carried out
	outcomeDone        byte = 4 // carried out, with no reply, as frameYield and frameFollow are
)

var (
	errFrame = errors.New("cluster: not a frame of ours")
	// errLarge is the error for a message that does not fit into a frame. Sent, it would break the link and all calls on it.
	errLarge = errors.New("cluster: a message of more than maxFrame")
)

// byName maps names to the messages' types: commands and details are structs, replies pointers. A
// type that has been renamed is listed under all its names.
var byName = func() map[string]reflect.Type {
	m := make(map[string]reflect.Type)
	add := func(message any) {
		name := typeName(message)
		for _, name := range append([]string{name}, all.FormerNames[name]...) {
			m[name] = reflect.TypeOf(message)
		}
	}
	for _, c := range all.Commands {
		add(c)
	}
	for _, r := range all.Replies {
		add(r)
	}
	for _, d := range all.Details {
		add(d)
	}
	return m
}()

// messageName is the name of a command, reply or detail between nodes: its type's name, such as
// "ledger.Place", or the name that the type had in the release before.
func messageName(m any) string {
	name := typeName(m)
	if former := all.FormerNames[name]; len(former) > 0 {
		return former[0]
	}
	return name
}

// typeName returns the message's type with its package, such as "ledger.Place", whether m is a struct or
// a pointer to one.
func typeName(m any) string {
	t := reflect.TypeOf(m)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.String()
}

// writer builds frames.
type writer struct {
	bytes.Buffer
	start int
}

// beginFrame leaves four bytes for the frame's length, which endFrame fills in.
func (w *writer) beginFrame(kind byte) {
	w.start = w.Len()
	w.Write([]byte{0, 0, 0, 0, kind})
}

// endFrame fills in the length of the frame that was begun last.
func (w *writer) endFrame() {
	binary.BigEndian.PutUint32(w.Bytes()[w.start:], uint32(w.Len()-w.start-4)) //nolint:gosec // see checkSize; a frame without a message is small, and the journal bounds a frame of facts
}

// undoFrame removes the frame that was begun last.
func (w *writer) undoFrame() { w.Truncate(w.start) }

// number appends an integer as a varint, with a sign.
func (w *writer) number(n int64) {
	w.Write(binary.AppendVarint(w.AvailableBuffer(), n))
}

func (w *writer) bytes(b []byte) {
	w.number(int64(len(b)))
	w.Write(b)
}

func (w *writer) text(s string) {
	w.number(int64(len(s)))
	w.WriteString(s)
}

func (w *writer) ref(r engine.Ref) {
	w.number(int64(r.Kind))
	w.number(r.Home)
	w.number(r.ID)
}

// message appends a command or reply, which fills the rest of the frame. It returns an error for a type that is not on
// the list of messages, and for a message that is too large for a frame.
func (w *writer) message(m any) error {
	name := messageName(m)
	if _, known := byName[name]; !known {
		return fmt.Errorf("cluster: %s is not on the list of messages", name)
	}
	w.text(name)
	if err := cbor.MarshalToBuffer(m, &w.Buffer); err != nil {
		return err
	}
	return w.checkSize()
}

// checkSize returns errLarge if the frame that was begun last is larger than its receiver takes.
func (w *writer) checkSize() error {
	if size := w.Len() - w.start - frameHead; size > maxFrame {
		return fmt.Errorf("%w: %d bytes", errLarge, size)
	}
	return nil
}

// refusal is the form of an engine.Refusal between nodes.
type refusal struct {
	Code    engine.Code     `cbor:"1,keyasint"`
	Message string          `cbor:"2,keyasint,omitempty"`
	Name    string          `cbor:"3,keyasint,omitempty"` // name of the type of the details
	Details cbor.RawMessage `cbor:"4,keyasint,omitempty"`
	Retry   int             `cbor:"5,keyasint,omitempty"`
}

// refusal appends a refusal, which fills the rest of the frame. Its details carry their type's name, so
// that the other node can make the same type of them.
func (w *writer) refusal(r *engine.Refusal) error {
	out := refusal{Code: r.Code, Message: r.Message, Retry: r.Retry}
	if r.Details != nil {
		var err error
		if out.Details, err = cbor.Marshal(r.Details); err != nil {
			return fmt.Errorf("cluster: details of %s: %w", r.Code, err)
		}
		out.Name = messageName(r.Details)
	}
	if err := cbor.MarshalToBuffer(out, &w.Buffer); err != nil {
		return err
	}
	return w.checkSize()
}

// reader takes a frame's body apart. After a failure it returns zero values.
type reader struct {
	b   []byte
	err error
}

// number reads a varint of at most ten bytes.
func (r *reader) number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.err, r.b = errFrame, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

// byte reads one byte.
func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.err = errFrame
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

// bytes reads a length and as many bytes. They belong to the frame and are overwritten by the next one.
func (r *reader) bytes() []byte {
	n := r.number()
	if n < 0 || n > int64(len(r.b)) {
		r.err, r.b = errFrame, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) ref() engine.Ref {
	return engine.Ref{Kind: engine.Kind(r.number()), Home: r.number(), ID: r.number()} //nolint:gosec // an unknown kind is refused later
}

// message reads the rest of the frame as a command or reply. A name that this release does not know
// makes only the message fail, not the link.
func (r *reader) message() (any, error) {
	name := r.text()
	if r.err != nil {
		return nil, r.err
	}
	t, known := byName[name]
	if !known {
		return nil, fmt.Errorf("cluster: no message %q", name)
	}
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	v := reflect.New(t)
	if err := wireDecoding.Unmarshal(r.b, v.Interface()); err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", name, err)
	}
	if pointer {
		return v.Interface(), nil
	}
	return v.Elem().Interface(), nil
}

// command reads the rest of the frame as a command.
func (r *reader) command() (engine.Command, error) {
	m, err := r.message()
	if err != nil {
		return nil, err
	}
	c, ok := m.(engine.Command)
	if !ok {
		return nil, fmt.Errorf("cluster: %T is no command", m)
	}
	return c, nil
}

// refusal reads the rest of the frame as a refusal. Details of a type that this node does not know
// become a map, because a client wants to see them and nothing here looks into them.
func (r *reader) refusal() (*engine.Refusal, error) {
	var in refusal
	if err := wireDecoding.Unmarshal(r.b, &in); err != nil {
		return nil, fmt.Errorf("cluster: refusal: %w", err)
	}
	out := &engine.Refusal{Code: in.Code, Message: in.Message, Retry: in.Retry}
	if in.Details == nil {
		return out, nil
	}
	t, known := byName[in.Name]
	if !known { // details of a newer node: the client gets their fields by name
		t = reflect.TypeFor[map[string]any]()
	}
	v := reflect.New(t)
	if err := wireDecoding.Unmarshal(in.Details, v.Interface()); err != nil {
		return nil, fmt.Errorf("cluster: details of %s: %w", in.Code, err)
	}
	out.Details = v.Elem().Interface()
	return out, nil
}

var wireDecoding = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		MaxArrayElements: 1 << 24, MaxMapPairs: 1 << 20, DefaultMapType: reflect.TypeFor[map[string]any](),
	}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}()
