// Package images makes the sizes in which an uploaded image is shown, in a process of its
// own. What strangers send is decoded there alone: under limits of memory, of time and
// of pixels, without the node's environment, and, where the decoder is C (WebP, AVIF), in
// WebAssembly. Nothing of the original's metadata comes through.
//
// A program that uses a Maker is its own worker: called with the argument Command, it
// calls Work and does nothing else. A Maker starts a process for each image and owns
// nothing else; every one has ended when Make returns.
package images

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"boxoffice/engine"
	"boxoffice/persistence/media"
)

// Command is the argument that makes a process of the program a worker; the image's
// media type, its path and the folder for its sizes follow.
const Command = "image"

const (
	waiting  = 8                // images wait for their turn; the next is refused
	makeTime = 45 * time.Second // for one, from its turn on
)

// Maker makes the sizes of one image at a time. Its methods may be called by any
// goroutine.
type Maker struct {
	program string
	taken   chan struct{} // running or waiting
	turn    chan struct{}
}

// NewMaker makes a maker whose workers are processes of the program.
func NewMaker(program string) *Maker {
	return &Maker{program: program, taken: make(chan struct{}, 1+waiting), turn: make(chan struct{}, 1)}
}

// Made is what was made of an image: files of the folder by name, such as web.webp.
type Made struct {
	Variants map[string]media.Variant `json:"variants"`
	Alpha    bool                     `json:"alpha"` // some of it is transparent
	Refused  string                   `json:"refused"`
}

// Make makes the sizes of the image at a path, of a media type, in a folder. It refuses
// with UNSUPPORTED_FILE_TYPE what is not that or too large to decode, and with OVERLOADED
// when too many wait.
func (m *Maker) Make(ctx context.Context, mediaType, path, folder string) (*Made, error) {
	select {
	case m.taken <- struct{}{}:
		defer func() { <-m.taken }()
	default:
		return nil, engine.Refuse(engine.Overloaded, nil)
	}
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, makeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, m.program, Command, mediaType, path, folder) //nolint:gosec // ourselves
	cmd.Env = []string{}                                                         // it needs no secret
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, refuse("takes too long to decode")
		}
		if _, ended := errors.AsType[*exec.ExitError](err); ended { // by a limit, or by what was in the image
			return nil, refuse("cannot be decoded")
		}
		return nil, fmt.Errorf("images: %w", err)
	}
	made := new(Made)
	if err := json.Unmarshal(out.Bytes(), made); err != nil {
		return nil, fmt.Errorf("images: %w: %.200s", err, log.String())
	}
	if made.Refused != "" {
		return nil, refuse(made.Refused)
	}
	return made, nil
}

func refuse(why string) *engine.Refusal {
	return &engine.Refusal{Code: engine.UnsupportedFile, Message: "The image " + why + ".", Details: map[string]string{"reason": "image", "found": why}}
}
