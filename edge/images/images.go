// Package images makes the sizes in which an uploaded image is shown, in a process of its own. Only
// such a process decodes strangers' images. It has limits of memory, time and pixels, and does not
// get the node's environment. The libraries in C that decode WebP and AVIF and that encode WebP run in
// WebAssembly. The sizes have none of the original's metadata.
//
// A program that uses a Maker is also the worker: if it is called with the argument Command, it
// calls Work and does nothing else. A Maker starts a process for each image, which has ended when
// Make returns.
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

// Command is the argument that makes a process of the program a worker. Three more arguments
// follow: the image's media type, its path, and the folder for its sizes.
const Command = "image"

const (
	waiting  = 64               // the most images (each of another organization) that wait for their turn; more are refused
	makeTime = 45 * time.Second // the most time for one image, from the beginning of its turn

	// RuleMegapixels is how many megapixels an organization's images may have in a minute, by the
	// sizes in their headers. The Maker's scale multiplies it.
	RuleMegapixels = 200
	budgetSize     = 1 // megabytes of memory for the counts of megapixels
)

// Maker makes the sizes of one image at a time, because a worker may take a whole core and much memory. Each
// organization can have only one image that runs or waits. The smallest waiting image is next, so that no small
// image waits for a large one that has not begun. Any goroutine may call its methods.
type Maker struct {
	program string
	within  time.Duration // makeTime, except in tests
	budget  *limit.Table
	scale   float64

	mu sync.Mutex
	// mu guards running, busy and waiting. waiting is empty unless running is set.
	running bool
	busy    map[int64]bool // organizations with an image that runs or waits
	waiting []*turn
}

// turn is an image that runs or waits for its turn.
type turn struct {
	megapixels int
	begin      chan struct{} // closed when the image's turn begins
}

// NewMaker makes a maker whose workers are processes of the program at that path. scale multiplies
// RuleMegapixels.
func NewMaker(program string, scale float64) *Maker {
	return &Maker{program: program, within: makeTime, budget: limit.New(budgetSize), scale: scale, busy: make(map[int64]bool)}
}

// Made is what a worker answers: the sizes that it has written into the folder, by the
// names of their files, such as web.webp.
type Made struct {
	Variants map[string]media.Variant `json:"variants"`
	Alpha    bool                     `json:"alpha"` // whether any pixel is transparent
	// Refused says why the image was refused, in words that complete "The image ..."; "" if
	// it was not.
	Refused string `json:"refused"`
}

// Make makes the sizes of an organization's image and returns when its worker has ended. path is the image's
// file, mediaType the type that the image must have, and folder the folder for the sizes. It refuses with
// UNSUPPORTED_FILE_TYPE an image that cannot be decoded or is too large, and with OVERLOADED if too many images
// wait. It refuses with RATE_LIMITED if another image of the organization runs or waits, or if the organization
// has sent too many megapixels in a minute.
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

// joinLine makes an image wait for its turn, or begins its turn at once if no image runs. It refuses one if its
// organization has another under way or has used up its megapixels, or if too many images wait. It counts the
// megapixels last, so that an image that is refused for another reason is not counted.
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

// leaveLine takes an image out of the waiting ones, after its caller has given up. If the image's
// turn has just begun, leaveLine ends the turn.
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

// endTurn ends a turn of the organization and begins the turn of the smallest image that waits. Of
// several images of the same size the one that has waited longest is next, because MinFunc returns
// the first.
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

// exitOurFault is the exit code of a worker whose Work returns an error, which is never the image's fault. A crash of
// Go's runtime exits with 2, and a process that a signal killed has no exit code.
const exitOurFault = 1

// run makes the sizes in a worker process, and kills the process after makeTime. If the process
// computes for too long, is killed by a limit, crashes or answers that it refuses the image, run blames the image and
// refuses it with UNSUPPORTED_FILE_TYPE. If ctx ends while the worker runs, run returns the error of ctx. If the machine
// was too busy for the process, run returns context.DeadlineExceeded. If the process cannot be started, fails by our
// fault (such as a full disk) or writes no answer, run returns an error too.
func (m *Maker) run(ctx context.Context, mediaType, path, folder string) (*Made, error) {
	within, cancel := context.WithTimeout(ctx, m.within)
	defer cancel()
	cmd := exec.CommandContext(within, m.program, Command, mediaType, path, folder) //nolint:gosec // ourselves
	cmd.Env = []string{}                                                            // the worker must not get the node's secrets
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil { // the request has taken too long, or the node stops: that says nothing of the image
			return nil, ctx.Err()
		}
		if within.Err() != nil {
			if s := cmd.ProcessState; s == nil || s.UserTime()+s.SystemTime() < m.within/2 { // it waited for a processor
				return nil, within.Err()
			}
			return nil, refuseImage("takes too long to decode")
		}
		if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() != exitOurFault {
			return nil, refuseImage("cannot be decoded") // a limit killed the process, or it crashed
		}
		return nil, fmt.Errorf("images: %w: %.200s", err, log.String())
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

// refuseImage refuses an image; why completes "The image ...".
func refuseImage(why string) *engine.Refusal {
	return &engine.Refusal{Code: engine.UnsupportedFile, Message: "The image " + why + ".", Details: map[string]string{"reason": "image", "found": why}}
}
