package kafka

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	kafkago "github.com/segmentio/kafka-go"

	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/persistence/codec"
	"boxoffice/persistence/journal"
)

// These are the headers of a message (docs/kafka.md). A message's key is the stream's name, its
// value the fact's CBOR map, as in the journal. Numbers are decimal.
const (
	headerType         = "type"         // name of the fact's type, e.g. order.created; event/99 if only newer nodes know the type
	headerNumber       = "number"       // number of the fact's type in the journal, for nodes that do not know the name
	headerID           = "id"           // stream:seq; the same whenever the fact is written
	headerSeq          = "seq"          // the fact's number within its stream: 1, 2, 3 ...
	headerOrganization = "organization" // organization to which the fact belongs; missing if it is unknown
	headerEpoch        = "epoch"        // epoch of the activation that decided the fact
	headerWriter       = "writer"       // writer of the journal that committed the fact
	headerBatch        = "batch"        // number of that writer's batch in which the fact was committed
)

var (
	// errForeign says that no relay of ours wrote a message.
	errForeign = errors.New("kafka: not a message of the relay")
	// errNewer says that only a newer node can read a message.
	errNewer = errors.New("kafka: a message of a newer node")
)

// names and numbers translate fact types: from their numbers in the journal to the names in the topic, and back.
var names, numbers = factTypes()

// factType is a fact type of a kind. Each kind numbers its own.
type factType struct {
	kind engine.Kind
	typ  engine.FactType
}

// factTypes makes both tables from the list of kinds.
func factTypes() (map[factType][]byte, map[string]factType) {
	names, numbers := make(map[factType][]byte), make(map[string]factType)
	for _, kind := range all.Kinds {
		for _, def := range kind.Facts {
			t := factType{kind.Kind, def.Type}
			names[t], numbers[def.Name] = []byte(def.Name), t
		}
	}
	return names, numbers
}

// appendMessages appends the facts of a record of batch b, one message each, and estimates how many bytes
// they take. key is the stream's name; org is 0 if it is unknown.
func appendMessages(to []kafkago.Message, key []byte, b *journal.Batch, r *journal.Record, org int64) ([]kafkago.Message, int, error) {
	// Headers that all facts of a record have in common are encoded once.
	shared := []kafkago.Header{
		{Key: headerEpoch, Value: strconv.AppendInt(nil, int64(r.Epoch), 10)},
		{Key: headerWriter, Value: strconv.AppendInt(nil, int64(b.Writer), 10)},
		{Key: headerBatch, Value: strconv.AppendInt(nil, b.Seq, 10)},
	}
	if org != 0 {
		shared = append(shared, kafkago.Header{Key: headerOrganization, Value: strconv.AppendInt(nil, org, 10)})
	}
	size, seq := 0, r.First
	for rest := r.Bytes; len(rest) > 0; seq++ {
		typ, body, after, err := codec.Split(rest)
		if err != nil {
			return nil, 0, fmt.Errorf("%w: %s, fact %d: %w", errUnsendable, key, seq, err)
		}
		rest = after
		digits := strconv.AppendUint(make([]byte, 0, 5), uint64(typ), 10)
		name := names[factType{r.Ref.Kind, typ}]
		if name == nil { // only newer nodes know the type, but the fact can be passed on all the same
			name = fmt.Appendf(nil, "%s/%s", r.Ref.Kind, digits)
		}
		id := append(strconv.AppendInt(make([]byte, 0, 32), r.Stream, 10), ':')
		n := len(id)
		id = strconv.AppendInt(id, seq, 10)
		to = append(to, kafkago.Message{Key: key, Value: body, Headers: append([]kafkago.Header{
			{Key: headerType, Value: name}, {Key: headerNumber, Value: digits}, {Key: headerID, Value: id}, {Key: headerSeq, Value: id[n:]},
		}, shared...)})
		size += len(key) + len(body) + overhead
	}
	// The journal says how many facts a record has. Another number means that its bytes are damaged.
	if seq != r.Last+1 {
		return nil, 0, fmt.Errorf("%w: %s has %d facts from %d on, not up to %d", errUnsendable, key, seq-r.First, r.First, r.Last)
	}
	return to, size, nil
}

// overhead is about how many bytes the headers of a message take.
const overhead = 130

// outgoing are the messages of one request, as kafka-go reads them.
type outgoing struct {
	messages []kafkago.Message
	next     int
	record   kafkago.Record
	key      content
	value    content
}

// content is a message's key or value in the form in which kafka-go reads it.
type content struct{ bytes.Reader }

// Close does nothing: there is nothing to release.
func (*content) Close() error { return nil }

// ReadRecord returns the next message, valid until the one after it is read.
func (o *outgoing) ReadRecord() (*kafkago.Record, error) {
	if o.next == len(o.messages) {
		return nil, io.EOF
	}
	m := &o.messages[o.next]
	o.next++
	o.key.Reset(m.Key)
	o.value.Reset(m.Value)
	o.record = kafkago.Record{Key: &o.key, Value: &o.value, Headers: m.Headers}
	return &o.record, nil
}

// incoming is a fact that was read back from the topic.
type incoming struct {
	offset int64
	ours   bool // whether a relay of ours wrote it; any other is passed over
	ref    engine.Ref
	stream int64
	seq    int64
	epoch  int32
	writer int32
	batch  int64
	typ    engine.FactType
	body   []byte
}

// parse reads a message. It returns errForeign if no relay of ours wrote the message, and errNewer if only a newer
// node can read it.
func parse(r *kafkago.Record) (incoming, error) {
	f := incoming{offset: r.Offset}
	key, err := kafkago.ReadAll(r.Key)
	if err != nil {
		return f, fmt.Errorf("kafka: offset %d: %w", r.Offset, err)
	}
	if f.body, err = kafkago.ReadAll(r.Value); err != nil {
		return f, fmt.Errorf("kafka: offset %d: %w", r.Offset, err)
	}
	var name string
	for _, h := range r.Headers {
		switch h.Key {
		case headerType:
			name = string(h.Value)
		case headerNumber:
			f.typ = engine.FactType(min(parseNumber(h.Value), math.MaxUint16)) //nolint:gosec // it fits
		case headerID:
			stream, _, _ := bytes.Cut(h.Value, []byte(":"))
			f.stream = parseNumber(stream)
		case headerSeq:
			f.seq = parseNumber(h.Value)
		case headerEpoch:
			f.epoch = int32(min(parseNumber(h.Value), math.MaxInt32)) //nolint:gosec // it fits
		case headerWriter:
			f.writer = int32(min(parseNumber(h.Value), math.MaxInt32)) //nolint:gosec // it fits
		case headerBatch:
			f.batch = parseNumber(h.Value)
		}
	}
	// A relay writes all of these into every message, and none of the numbers is 0.
	if name == "" || f.stream <= 0 || f.seq <= 0 || f.epoch <= 0 || f.writer <= 0 || f.batch <= 0 {
		return f, fmt.Errorf("%w: offset %d, key %.40q, headers %.400s", errForeign, r.Offset, key, r.Headers)
	}
	newer := func() (incoming, error) {
		return f, fmt.Errorf("%w: offset %d, key %.40q, type %.40q", errNewer, r.Offset, key, name)
	}
	if f.ref, err = engine.ParseRef(string(key)); err != nil {
		return newer()
	}
	if t := numbers[name]; f.typ == 0 && t.kind == f.ref.Kind { // an earlier release wrote the message, without headerNumber
		f.typ = t.typ
	}
	if f.typ == 0 {
		return newer()
	}
	f.ours = true
	return f, nil
}

// parseNumber reads a positive number. It returns 0 for anything else, which no header of ours has.
func parseNumber(text []byte) int64 {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// joinBatches puts facts of one batch of the journal together again, as far as they come one after another in the
// partition. A record may be divided over several batches here, and follower.Once accepts that.
func joinBatches(facts []incoming) []journal.Batch {
	var all []journal.Batch
	for i := range facts {
		f := &facts[i]
		if !f.ours {
			continue
		}
		if n := len(all); n == 0 || all[n-1].Writer != f.writer || all[n-1].Seq != f.batch {
			all = append(all, journal.Batch{Writer: f.writer, Seq: f.batch})
		}
		b := &all[len(all)-1]
		if n := len(b.Records); n == 0 || b.Records[n-1].Stream != f.stream || b.Records[n-1].Last+1 != f.seq {
			b.Records = append(b.Records, journal.Record{Ref: f.ref, Stream: f.stream, First: f.seq, Epoch: f.epoch})
		}
		r := &b.Records[len(b.Records)-1]
		r.Last, r.Bytes = f.seq, codec.AppendBody(r.Bytes, f.typ, f.body)
	}
	return all
}
