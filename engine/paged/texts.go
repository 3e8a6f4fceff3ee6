package paged

import (
	"encoding/binary"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// These are the sizes in bytes of the blocks in which a Texts writes its log. The first blocks are small,
// because there are many short lists. A text that does not fit into maxBlock gets a block of its own.
const (
	minBlock = 1 << 10
	maxBlock = 1 << 16
)

// Texts is a list like Rows whose rows are texts. The texts lie one after another in the blocks of
// a log. To the garbage collector, a million of them are then only some thousand objects without
// pointers.
//
// Bytes that have been written never change, because snapshots and callers may read them. A new text therefore
// goes to the log's end, and the old one is dead from then on. When clearly more of the log is dead than alive
// (tidyLog), every change moves some of the oldest texts to the end, so that no single change takes long
// (Rosenblum and Ousterhout, "The Design and Implementation of a Log-Structured File System", 1992). The zero
// value is empty.
type Texts struct {
	places Rows[place]
	last   strings.Builder // the log's last block, which grows
	log    []string        // the blocks before it, oldest first
	first  uint32          // the number of the first block, from which the others count on
	tidied int             // how far the first block has been tidied
	live   int             // bytes of the rows
	size   int             // bytes of the log
}

// place says where a text lies: in which block, at which byte, and how long it is. Before the text
// lies its head, with the number of its row and its size, by which tidyLog finds the row.
type place struct{ block, at, size uint32 }

// headSize is the size of a text's head in bytes.
const headSize = 8

// Len returns the number of rows.
func (t *Texts) Len() int { return t.places.Len() }

// At returns the i-th row.
func (t *Texts) At(i int) string {
	p := t.places.At(i)
	return t.blockAt(p.block - t.first)[p.at:][:p.size]
}

// blockAt returns the i-th block of the log.
func (t *Texts) blockAt(i uint32) string {
	if int(i) < len(t.log) {
		return t.log[i]
	}
	return t.last.String()
}

// Set replaces the i-th row by a copy of the text. The old text is dead.
func (t *Texts) Set(i int, text []byte) {
	t.live -= headSize + int(t.places.At(i).size)
	t.places.Set(i, t.write(i, text))
	t.tidyLog()
}

// Append adds a copy of the text at the end.
func (t *Texts) Append(text []byte) {
	t.places.Append(t.write(t.Len(), text))
	t.tidyLog()
}

// Remove replaces the i-th row by the last row, and returns that row, which is the i-th from now
// on.
func (t *Texts) Remove(i int) (moved string) {
	last := t.Len() - 1
	t.live -= headSize + int(t.places.At(i).size)
	moved = t.At(last)
	t.places.Remove(i)
	// The head of the moved text in the log has its old row, so it is written again with the new
	// one.
	if i < last {
		t.moveText(i, moved)
	}
	t.tidyLog()
	return moved
}

// All yields the rows in order.
func (t *Texts) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range t.Len() {
			if !yield(t.At(i)) {
				return
			}
		}
	}
}

// Freeze returns the rows as they are now, in pages. The pages share the log, whose bytes never
// change.
func (t *Texts) Freeze() []TextPage {
	log := append(make([]string, 0, len(t.log)+1), t.log...)
	log = append(log, t.last.String())
	pages := t.places.Freeze()
	out := make([]TextPage, len(pages))
	for i, places := range pages {
		out[i] = TextPage{places: places, log: log, first: t.first}
	}
	return out
}

// write adds a row's text with its head to the end of the log, and returns its place.
func (t *Texts) write(row int, text []byte) place {
	t.makeRoom(headSize + len(text))
	var head [headSize]byte
	binary.LittleEndian.PutUint32(head[:], uint32(row))        //nolint:gosec // rows are fewer
	binary.LittleEndian.PutUint32(head[4:], uint32(len(text))) //nolint:gosec // texts are shorter
	t.last.Write(head[:])
	at := t.last.Len()
	t.last.Write(text)
	t.live += headSize + len(text)
	return place{t.first + uint32(len(t.log)), uint32(at), uint32(len(text))} //nolint:gosec // within a block
}

// moveText writes a row's text to the end of the log and makes the row point there. The old copy is
// dead.
func (t *Texts) moveText(row int, text string) {
	t.live -= headSize + len(text)
	t.places.Set(row, t.write(row, []byte(text)))
}

// makeRoom makes sure that the last block has room for n more bytes, and counts them. A new block
// is as large as what is alive, within the limits, so that blocks grow with the list.
func (t *Texts) makeRoom(n int) {
	t.size += n
	if t.last.Cap()-t.last.Len() >= n {
		return
	}
	if t.last.Len() > 0 {
		t.log = append(t.log, t.last.String())
	}
	t.last.Reset()
	t.last.Grow(max(n, min(maxBlock, max(minBlock, t.live))))
}

// tidySteps is how many texts one change looks at. It must be more than one change leaves dead, or
// the log would grow for ever.
const tidySteps = 4

// tidyLog moves some living texts out of the first block, if the dead bytes of the log exceed the living ones
// by more than maxBlock. A block from which all living texts are gone is given up.
func (t *Texts) tidyLog() {
	for range tidySteps {
		if len(t.log) == 0 || t.size <= 2*t.live+maxBlock {
			return
		}
		block := t.log[0]
		if t.tidied == len(block) {
			t.log[0] = ""
			t.log, t.first, t.tidied = t.log[1:], t.first+1, 0
			t.size -= len(block)
			continue
		}
		var head [headSize]byte
		copy(head[:], block[t.tidied:])
		row, size := int(binary.LittleEndian.Uint32(head[:])), int(binary.LittleEndian.Uint32(head[4:]))
		at := t.tidied + headSize
		t.tidied = at + size
		// A text is alive if its row still points to it.
		if row < t.Len() && t.places.At(row) == (place{t.first, uint32(at), uint32(size)}) { //nolint:gosec // within a block
			t.moveText(row, block[at:t.tidied])
		}
	}
}

// TextPage is one page of a snapshot's Texts. It is encoded like Strings.
type TextPage struct {
	places []place
	log    []string
	first  uint32
}

// NewTextPage returns a page with these texts, which it copies into one string.
func NewTextPage(texts Strings) TextPage {
	p := TextPage{places: make([]place, len(texts)), log: []string{strings.Join(texts, "")}}
	at := 0
	for i, text := range texts {
		p.places[i] = place{at: uint32(at), size: uint32(len(text))} //nolint:gosec // a page is small
		at += len(text)
	}
	return p
}

// All yields the page's texts in order.
func (p TextPage) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, one := range p.places {
			if !yield(p.log[one.block-p.first][one.at:][:one.size]) {
				return
			}
		}
	}
}

// strings returns the page's texts.
func (p TextPage) strings() Strings {
	return slices.AppendSeq(make(Strings, 0, len(p.places)), p.All())
}

// MarshalBinary encodes the page.
func (p TextPage) MarshalBinary() ([]byte, error) { return p.strings().MarshalBinary() }

// UnmarshalBinary decodes the page.
func (p *TextPage) UnmarshalBinary(b []byte) error {
	var texts Strings
	err := texts.UnmarshalBinary(b)
	*p = NewTextPage(texts)
	return err
}

// MarshalJSON writes a list of texts.
func (p TextPage) MarshalJSON() ([]byte, error) { return json.Marshal(p.strings()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *TextPage) UnmarshalJSON(b []byte) error {
	var texts Strings
	err := json.Unmarshal(b, &texts)
	*p = NewTextPage(texts)
	return err
}
