// Package hosted recognizes links to files that we host, and signs the links by which ticket
// holders read private files. A signed link lets anybody read a private file, so only this package
// signs links, and only to files of the organization whose content has the link. Any goroutine may
// call it.
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

// Files signs links to the files that we host. Its method may be called by any goroutine.
type Files struct {
	Table   *media.Store
	Secrets *secrets.Master
	BaseURL string // how people reach the service
}

// Sign replaces an organization's stored links that lead to a file of ours by signed
// links, which are valid for linkLife and while the viewer holds the ticket. A link to a file of
// another organization, or to a deleted file, becomes "", because requests did not always check
// that. Links to other places stay unchanged.
func (f *Files) Sign(ctx context.Context, org int64, viewer secrets.Viewer, now time.Time, links ...*string) error {
	ids := make([]int64, len(links)) // 0 for a link to another place
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
