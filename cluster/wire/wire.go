// Package wire writes and reads the frames that nodes send each other. A Writer builds frames in memory, and a Reader
// takes a frame's body apart. Package cluster decides what to send, and reads and writes the connections.
//
// Only the commands and replies that engine/all lists can be sent. Details of a refusal that the receiver's release does
// not list arrive as a map. A message of more than MaxFrame bytes, one that this release does not know, and a body that
// is cut short are errors, never panics.
//
// A Writer and a Reader each belong to one goroutine. The package starts none and holds nothing that has to be closed.
package wire

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

// These are the kinds of frames, which have this form:
//
//	uint32 length of the rest | byte kind | body
//
// Numbers in a body are varints; names and bytes follow their length. Commands and replies are CBOR
// maps by field name. A field may be added, but never gets another meaning, so that two releases
// understand each other (tests hold golden frames).
const (
	FrameHello     byte = 1  // protocol version, sender's and receiver's member id, revision, and the member to relay to if there is one: the first frame each way
	FrameAsk       byte = 2  // call, milliseconds left, ref, name, command
	FrameTell      byte = 3  // ref, name, command
	FrameReply     byte = 4  // call, outcome, and name and reply or refusal
	FrameYield     byte = 5  // call, ref: let the actor go, I am about to claim its stream
	FrameFollow    byte = 6  // call, event: send me its facts as they are committed
	FrameFacts     byte = 7  // ref, stream, first, last, facts as in the journal
	FrameCommitted byte = 8  // writer, batch: what the replies after this frame depend on
	FramePing      byte = 9  // nothing: the link is alive
	FrameWrote     byte = 10 // call, caller: how far was the journal when you answered its last write
	FramePositions byte = 11 // call, and writer and batch for each writer: the answer to FrameWrote
)

// Protocol is the version of the frames' form. Nodes of different versions refuse each other.
const Protocol = 1

// Revision counts the additions since the protocol began: first FrameWrote with its answer (RevisionWrote), then links
// that a member relays (RevisionRelay). A node is asked for nothing that was added after its own revision.
const (
	Revision      = 2
	RevisionWrote = 1
	RevisionRelay = 2
)

// FrameHead is how many bytes of a frame come before its body: the length and the kind.
const FrameHead = 5

// MaxFrame is the most bytes of a frame's body: the seat map of a stadium takes about 5 MB.
const MaxFrame = 64 << 20

// MaxHello is the most bytes of the body of a hello, which has the ids of members. It comes before anything is known of
// the other side, so a stranger must not be able to claim much memory by it.
const MaxHello = 4 << 10

// These are the outcomes of a call.
const (
	OutcomeReply       byte = 0
	OutcomeRefusal     byte = 1
	OutcomeMoved       byte = 2 // ask again: the node is not the owner, or the activation ends and has answered nothing
	OutcomeUnavailable byte = 3 // it may or may not have been carried out
	OutcomeDone        byte = 4 // carried out, with no reply, as FrameYield and FrameFollow are
)

var (
	// ErrFrame is the error for bytes that are not a frame of this protocol, or only the beginning of one.
	ErrFrame = errors.New("wire: not a frame of ours")
	// errLarge is the error for a message that does not fit into a frame. Sent, it would break the link and all calls on it.
	errLarge = errors.New("wire: a message of more than MaxFrame")
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

// Writer builds frames, one after the other, in its buffer. Between BeginFrame and EndFrame the body is appended. The
// zero Writer is empty and ready to use.
type Writer struct {
	bytes.Buffer
	start int
}

// BeginFrame appends the head of a frame. It leaves four bytes for the frame's length, which EndFrame fills in.
func (w *Writer) BeginFrame(kind byte) {
	w.start = w.Len()
	w.Write([]byte{0, 0, 0, 0, kind})
}

// EndFrame fills in the length of the frame that was begun last.
func (w *Writer) EndFrame() {
	binary.BigEndian.PutUint32(w.Bytes()[w.start:], uint32(w.Len()-w.start-4)) //nolint:gosec // see checkSize; a frame without a message is small, and the journal bounds a frame of facts
}

// UndoFrame removes the frame that was begun last.
func (w *Writer) UndoFrame() { w.Truncate(w.start) }

// AppendNumber appends an integer as a varint, with a sign.
func (w *Writer) AppendNumber(n int64) {
	w.Write(binary.AppendVarint(w.AvailableBuffer(), n))
}

// AppendBytes appends the number of bytes and the bytes.
func (w *Writer) AppendBytes(b []byte) {
	w.AppendNumber(int64(len(b)))
	w.Write(b)
}

// AppendText appends a text as AppendBytes does.
func (w *Writer) AppendText(s string) {
	w.AppendNumber(int64(len(s)))
	w.WriteString(s)
}

// AppendRef appends the kind, home and id of an actor.
func (w *Writer) AppendRef(r engine.Ref) {
	w.AppendNumber(int64(r.Kind))
	w.AppendNumber(r.Home)
	w.AppendNumber(r.ID)
}

// AppendMessage appends a command or reply, which fills the rest of the frame. It returns an error for a type that is
// not on the list of messages, and for a message that is too large for a frame. The caller then undoes the frame.
func (w *Writer) AppendMessage(m any) error {
	name := messageName(m)
	if _, known := byName[name]; !known {
		return fmt.Errorf("wire: %s is not on the list of messages", name)
	}
	w.AppendText(name)
	if err := cbor.MarshalToBuffer(m, &w.Buffer); err != nil {
		return err
	}
	return w.checkSize()
}

// checkSize returns errLarge if the frame that was begun last is larger than its receiver takes.
func (w *Writer) checkSize() error {
	if size := w.Len() - w.start - FrameHead; size > MaxFrame {
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

// AppendRefusal appends a refusal, which fills the rest of the frame. Its details carry their type's name, so that the
// other node can make the same type of them. It returns an error for details that can't be encoded, and for a refusal
// that is too large for a frame. The caller then undoes the frame.
func (w *Writer) AppendRefusal(r *engine.Refusal) error {
	out := refusal{Code: r.Code, Message: r.Message, Retry: r.Retry}
	if r.Details != nil {
		var err error
		if out.Details, err = cbor.Marshal(r.Details); err != nil {
			return fmt.Errorf("wire: details of %s: %w", r.Code, err)
		}
		out.Name = messageName(r.Details)
	}
	if err := cbor.MarshalToBuffer(out, &w.Buffer); err != nil {
		return err
	}
	return w.checkSize()
}

// Reader takes a frame's body apart. After a failure it returns zero values.
type Reader struct {
	b   []byte
	err error
}

// NewReader makes a reader of a frame's body, which it uses without copying it.
func NewReader(body []byte) *Reader { return &Reader{b: body} }

// Err returns ErrFrame if the body did not have what was read from it, otherwise nil.
func (r *Reader) Err() error { return r.err }

// HasMore reports whether bytes of the body are left to be read. After a failure there are none.
func (r *Reader) HasMore() bool { return len(r.b) > 0 }

// Number reads a varint of at most ten bytes.
func (r *Reader) Number() int64 {
	n, size := binary.Varint(r.b)
	if size <= 0 {
		r.err, r.b = ErrFrame, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.b) == 0 {
		r.err = ErrFrame
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

// Bytes reads a length and as many bytes. They belong to the frame and are overwritten by the next one.
func (r *Reader) Bytes() []byte {
	n := r.Number()
	if n < 0 || n > int64(len(r.b)) {
		r.err, r.b = ErrFrame, nil
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// Text reads a text as Bytes does, and copies it.
func (r *Reader) Text() string { return string(r.Bytes()) }

// Ref reads the kind, home and id of an actor.
func (r *Reader) Ref() engine.Ref {
	return engine.Ref{Kind: engine.Kind(r.Number()), Home: r.Number(), ID: r.Number()} //nolint:gosec // an unknown kind is refused later
}

// Message reads the rest of the frame as a command or reply. A name that this release does not know
// makes only the message fail, not the link: Err stays nil.
func (r *Reader) Message() (any, error) {
	name := r.Text()
	if r.err != nil {
		return nil, r.err
	}
	t, known := byName[name]
	if !known {
		return nil, fmt.Errorf("wire: no message %q", name)
	}
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	v := reflect.New(t)
	if err := decoding.Unmarshal(r.b, v.Interface()); err != nil {
		return nil, fmt.Errorf("wire: %s: %w", name, err)
	}
	if pointer {
		return v.Interface(), nil
	}
	return v.Elem().Interface(), nil
}

// Command reads the rest of the frame as a command. Another message is an error, which leaves Err nil.
func (r *Reader) Command() (engine.Command, error) {
	m, err := r.Message()
	if err != nil {
		return nil, err
	}
	c, ok := m.(engine.Command)
	if !ok {
		return nil, fmt.Errorf("wire: %T is no command", m)
	}
	return c, nil
}

// Refusal reads the rest of the frame as a refusal. Details of a type that this node does not know
// become a map, because a client wants to see them and nothing here looks into them.
func (r *Reader) Refusal() (*engine.Refusal, error) {
	var in refusal
	if err := decoding.Unmarshal(r.b, &in); err != nil {
		return nil, fmt.Errorf("wire: refusal: %w", err)
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
	if err := decoding.Unmarshal(in.Details, v.Interface()); err != nil {
		return nil, fmt.Errorf("wire: details of %s: %w", in.Code, err)
	}
	out.Details = v.Elem().Interface()
	return out, nil
}

// decoding allows larger arrays and maps than the library does by default, such as the seats of a stadium.
var decoding = func() cbor.DecMode {
	m, err := cbor.DecOptions{
		MaxArrayElements: 1 << 24, MaxMapPairs: 1 << 20, DefaultMapType: reflect.TypeFor[map[string]any](),
	}.DecMode()
	if err != nil {
		panic(err) // the options are constants
	}
	return m
}()
