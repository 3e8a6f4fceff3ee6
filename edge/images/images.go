// Package images makes the sizes in which an uploaded image is shown, in a process of its own. Strangers' pictures are
// decoded only there: with limits of memory, time and pixels, without the node's environment and, where the decoder is
// written in C (WebP, AVIF), in WebAssembly. The sizes contain none of the original's metadata.
//
// A program that uses a Maker is its own worker: called with the argument Command, it
// calls Work and does nothing else. A Maker starts a process for each image and owns
// nothing else; every one has ended when Make returns.
package images

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"

	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/persistence/media"
)

// Command is the argument that makes a process of the program a worker; the image's
// media type, its path and the folder for its sizes follow.
const Command = "image"

const (
	waiting  = 64               // most images that wait for their turn; any more are refused
	makeTime = 45 * time.Second // most time for one image, from the beginning of its turn

	// RuleMegapixels is the most megapixels of an organization's images in a minute, according to the images' headers.
	RuleMegapixels = 200
	budgetSize     = 1 // megabytes of memory for the counts
)

// Maker makes the sizes of one image at a time, because a worker may use a whole processor and much memory. An
// organization can have only one image that runs or waits, and the smallest image that waits is next, so that large
// images of one organization don't delay small ones of others. Any goroutine may call its methods.
type Maker struct {
	program string
	budget  *limit.Table
	scale   float64

	mu sync.Mutex
	// mu guards running, busy and waiting. The line is empty while nothing runs.
	running bool
	busy    map[int64]bool // organizations with an image that runs or waits
	waiting []*turn
}

// turn is an image that runs or waits for its turn.
type turn struct {
	megapixels int
	begin      chan struct{} // closed when it is its turn
}

// NewMaker makes a maker whose workers are processes of the program. Scale multiplies how many
// pixels an organization may send in a minute.
func NewMaker(program string, scale float64) *Maker {
	return &Maker{program: program, budget: limit.New(budgetSize), scale: scale, busy: make(map[int64]bool)}
}

// Made is what a worker answers: the sizes that it has written into the folder, by the
// names of their files, such as web.webp.
type Made struct {
	Variants map[string]media.Variant `json:"variants"`
	Alpha    bool                     `json:"alpha"` // some pixels of the image are transparent
	// Refused says why the image was refused, in words that complete "The image ..."; "" if the image was accepted.
	Refused string `json:"refused"`
}

// Make makes the sizes of an organization's image and returns when its worker has ended.
// path is the image, mediaType what it must be, folder where the sizes go. It refuses an
// image that is of another type or too large to decode with UNSUPPORTED_FILE_TYPE, one
// beyond the organization's share with RATE_LIMITED, and with OVERLOADED when too many
// wait.
func (m *Maker) Make(ctx context.Context, org int64, now time.Time, mediaType, path, folder string) (*Made, error) {
	pixels, err := measurePixels(mediaType, path)
	if err != nil {
		return nil, err
	}
	// A part of a megapixel counts as a whole one.
	one := &turn{megapixels: (pixels + 1e6 - 1) / 1e6, begin: make(chan struct{})}
	if err := m.joinLine(org, one, now); err != nil {
		return nil, err
	}
	select {
	case <-one.begin:
	case <-ctx.Done():
		m.leaveLine(org, one)
		return nil, ctx.Err()
	}
	defer m.endTurn(org)
	return m.run(ctx, mediaType, path, folder)
}

// joinLine puts an image into the queue, or begins its turn at once if no image runs. It counts the image's megapixels
// last, so that an image that is refused for another reason does not count.
func (m *Maker) joinLine(org int64, one *turn, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy[org] {
		return &engine.Refusal{Code: engine.RateLimited, Message: "An image of this organization is being made; send the next after it.", Retry: 1}
	}
	if len(m.waiting) >= waiting {
		return engine.Refuse(engine.Overloaded, nil)
	}
	most := limit.Scale(RuleMegapixels, m.scale)
	if v := m.budget.TakeMany(m.budget.Of("megapixels", strconv.FormatInt(org, 10)), one.megapixels, most, time.Minute, now); !v.Allowed {
		return limit.Refuse(route.TierAdmin, v)
	}
	m.busy[org] = true
	if m.running {
		m.waiting = append(m.waiting, one)
	} else {
		m.running = true
		close(one.begin)
	}
	return nil
}

// leaveLine takes an image out of the queue. If the image's turn has just begun, it ends that turn.
func (m *Maker) leaveLine(org int64, one *turn) {
	m.mu.Lock()
	i := slices.Index(m.waiting, one)
	if i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
		delete(m.busy, org)
	}
	m.mu.Unlock()
	if i < 0 {
		m.endTurn(org)
	}
}

// endTurn ends a turn of the organization and begins the turn of the smallest image that
// waits. Of several of the same size the oldest is next, since MinFunc returns the first.
func (m *Maker) endTurn(org int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.busy, org)
	if m.running = len(m.waiting) > 0; !m.running {
		return
	}
	next := slices.MinFunc(m.waiting, func(a, b *turn) int { return cmp.Compare(a.megapixels, b.megapixels) })
	m.waiting = slices.DeleteFunc(m.waiting, func(one *turn) bool { return one == next })
	close(next.begin)
}

// run makes the sizes in a worker process, and kills the process after makeTime. If the process was ended by a limit or
// by a crash of a decoder, run refuses the image. If the process could not be started, that is an error of ours.
func (m *Maker) run(ctx context.Context, mediaType, path, folder string) (*Made, error) {
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.program, Command, mediaType, path, folder) //nolint:gosec // ourselves
	cmd.Env = []string{}                                                         // it needs no secret
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, refuseImage("takes too long to decode")
		}
		if _, ended := errors.AsType[*exec.ExitError](err); ended { // by a limit, or by what was in the image
			return nil, refuseImage("cannot be decoded")
		}
		return nil, fmt.Errorf("images: %w", err)
	}
	made := new(Made)
	if err := json.Unmarshal(out.Bytes(), made); err != nil {
		return nil, fmt.Errorf("images: %w: %.200s", err, log.String())
	}
	if made.Refused != "" {
		return nil, refuseImage(made.Refused)
	}
	return made, nil
}

// refuseImage returns the refusal of an image. why completes "The image ...".
func refuseImage(why string) *engine.Refusal {
	return &engine.Refusal{Code: engine.UnsupportedFile, Message: "The image " + why + ".", Details: map[string]string{"reason": "image", "found": why}}
}
