// Package hosted makes out the links by which ticket holders read files that we host. A signature
// lets a stranger read a private file, so it is made in this package alone, and only for files of
// the organization in whose name it is made. It may be called by any goroutine.
package hosted

import (
	"context"
	"slices"
	"time"

	"boxoffice/edge/secrets"
	"boxoffice/persistence/media"
)

// linkLife is how long a signed link is valid.
const linkLife = 15 * time.Minute

// Files are the files that we host.
type Files struct {
	Table   *media.Store
	Secrets *secrets.Master
	BaseURL string // how people reach the service
}

// Sign replaces those of an organization's stored links that lead to a file of ours by links that the viewer may follow
// for a while. A link to a file that was deleted, or that is not the organization's, becomes "": a record may be older
// than the check of links in requests (files.CheckFiles). Links to other servers stay unchanged.
func (f *Files) Sign(ctx context.Context, org int64, viewer secrets.Viewer, now time.Time, links ...*string) error {
	ids := make([]int64, len(links)) // 0: not ours
	for i, link := range links {
		ids[i], _ = ReadLink(f.BaseURL, *link)
	}
	own, err := f.Table.Own(ctx, org, slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return id == 0 }))
	if err != nil {
		return err
	}
	for i, id := range ids {
		switch {
		case slices.Contains(own, id):
			*links[i] = f.BaseURL + f.Secrets.MediaLink(id, viewer, now.Add(linkLife))
		case id != 0:
			*links[i] = ""
		}
	}
	return nil
}
