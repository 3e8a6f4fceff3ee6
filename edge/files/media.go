package files

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"boxoffice/edge/api"
	"boxoffice/edge/hosted"
	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
	"boxoffice/engine"
	"boxoffice/persistence/media"
)

// These are the most bytes of an uploaded image, and of an uploaded file that is not a video. The
// limit of a video is set for the deployment (Deps.VideoLimit).
const (
	imageLimit    = 50 << 20
	documentLimit = 45 << 20
)

var noMedia = &engine.Refusal{Code: engine.NotFound, Message: "No such file."}

// CheckFiles refuses a request that names a file which the organization does not have. A file may
// be named in several spellings; FindNamed rewrites each in the request to /media/<id>. It also
// notes that these files are named now, so that Collect keeps them for some more days even if the
// request then fails.
func (h *Handlers) CheckFiles(c *route.Call, org int64, in any) error {
	named := hosted.FindNamed(h.BaseURL, in)
	if len(named) == 0 {
		return nil
	}
	ids := make([]int64, len(named))
	for i, f := range named {
		ids[i] = f.ID
	}
	own, err := h.Table.Name(c.Context, org, ids)
	if err != nil {
		return err
	}
	var issues []route.Issue
	for _, f := range named {
		if !slices.Contains(own, f.ID) {
			issues = append(issues, route.Issue{Path: f.Path, Code: route.IssueFormat, Message: "must be a file of the organization's"})
		}
	}
	if len(issues) > 0 {
		return route.Invalid(issues...)
	}
	return nil
}

// wholeFile is the only variant of a file without sizes.
const wholeFile = "file"

// uploadFile keeps a file as it was sent. The form's field says what the file is for, and
// must fit its type.
func (h *Handlers) uploadFile(c *route.Call, in *api.UploadFile) (*api.Media, error) {
	org, err := route.FindOrganization(c, in.OrgID, in.QueryOrg)
	if err != nil {
		return nil, err
	}
	t, err := typeNamed(fileTypes, c.File)
	if err != nil {
		return nil, err
	}
	if in.Field != "" && in.Field != t.field || in.Field == "pdf" && c.File.Type != t.media {
		return nil, unsupported("field", in.Field)
	}
	f := &media.File{
		Org: org, Kind: cmp.Or(in.Field, "file"), Name: c.File.Name, Type: t.media, Bytes: c.File.Size, Sum: c.File.Sum[:], Private: in.Private == "1",
	}
	if f, err = h.keep(c, f, map[string]string{wholeFile: c.File.Path}); err != nil {
		return nil, err
	}
	return &api.Media{MediaID: f.ID, PrimaryURL: mediaPath(f.ID), Filename: f.Name, Bytes: f.Bytes, MIME: f.Type}, nil
}

// uploadImage keeps an image in the sizes in which it is shown. The file that was sent is
// not kept, so nothing of its metadata, such as where a picture was taken, reaches the
// public.
func (h *Handlers) uploadImage(c *route.Call, in *api.UploadImage) (*api.Image, error) {
	org, err := route.FindOrganization(c, in.OrgID, in.QueryOrg)
	if err != nil {
		return nil, err
	}
	t, err := typeNamed(imageTypes, c.File)
	if err != nil {
		return nil, err
	}
	folder := c.File.Path + ".sizes"
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // if this fails, the next start of the node removes the folder
	made, err := h.Images.Make(c.Context, org, c.Now, t.media, c.File.Path, folder)
	if err != nil {
		return nil, err
	}
	// The row of the file has the type and size of the variant that is shown if a request names
	// none.
	whole := wholeImage(made.Alpha)
	f := &media.File{
		Org: org, Kind: in.Kind, Name: c.File.Name, Type: variantType(whole), Bytes: made.Variants[whole].Bytes,
		Variants: made.Variants, Sum: c.File.Sum[:],
	}
	paths := map[string]string{}
	for name := range made.Variants {
		paths[name] = filepath.Join(folder, name)
	}
	if f, err = h.keep(c, f, paths); err != nil {
		return nil, err
	}
	size := func(name string) api.ImageVariant {
		v := f.Variants[name+".webp"]
		path := mediaPath(f.ID) + "/" + name
		return api.ImageVariant{WebP: path + ".webp", JPEG: path + ".jpg", Width: v.Width, Height: v.Height}
	}
	return &api.Image{
		MediaID: f.ID, PrimaryURL: mediaPath(f.ID), Variants: api.ImageVariants{Web: size("web"), Thumbnail: size("thumbnail"), OG: size("og")},
	}, nil
}

// wholeImage returns the variant that is shown if a request names none: a JPEG, because every mail
// program shows JPEGs, or a WebP for an image with transparent parts, which a JPEG cannot have.
func wholeImage(alpha bool) string {
	if alpha {
		return "web.webp"
	}
	return "web.jpg"
}

// variantType is the media type of a variant, by its name.
func variantType(name string) string {
	if strings.HasSuffix(name, ".webp") {
		return "image/webp"
	}
	return "image/jpeg"
}

// getMediaVariant answers with one size of an image in one format, such as thumbnail.webp.
func (h *Handlers) getMediaVariant(c *route.Call, in *api.GetMediaVariant) (*route.Content, error) {
	f, err := h.visibleMedia(c, in.ID, in.MediaLink)
	if err != nil {
		return nil, err
	}
	v, ok := f.Variants[in.Variant]
	if !ok {
		return nil, noMedia
	}
	return h.content(f, in.Variant, variantType(in.Variant), v.Bytes), nil
}

// mediaPath is the path under which a file is named in requests and read by browsers.
func mediaPath(id int64) string { return fmt.Sprintf("%s%d", format.HostedPrefix, id) }

// keep stores a file. paths has the local files of its variants, by name. It inserts the file's
// row, stores the bytes, and then marks the row as ready. If it breaks off in between, a repeat of
// the request completes the file, or Collect removes it.
func (h *Handlers) keep(c *route.Call, f *media.File, paths map[string]string) (*media.File, error) {
	if err := c.Charge(f.Org, f.Room()); err != nil {
		return nil, err
	}
	f, err := h.Table.Begin(c.Context, c.CommandID(), h.Quota, f)
	if errors.Is(err, media.ErrQuota) {
		return nil, h.noRoom()
	}
	// A repeat finds the file that the first request has stored.
	if err != nil || f.Ready {
		return f, err
	}
	for name, path := range paths {
		if err := h.Blobs.Put(c.Context, blobKey(f.ID, name), path, f.Type); err != nil {
			return nil, err
		}
	}
	return f, h.Table.Finish(c.Context, f.ID)
}

// noRoom refuses a file for which the organization has no room left.
func (h *Handlers) noRoom() *engine.Refusal {
	return engine.Refuse(engine.QuotaExceeded, map[string]int64{"maxBytes": h.Quota})
}

// blobKey returns the key of a variant's bytes in the store of blobs.
func blobKey(id int64, variant string) string { return fmt.Sprintf("%d/%s", id, variant) }

// forPublic lets caches keep public files for a year, because the bytes under a file's
// number never change.
const forPublic = "public, max-age=31536000, immutable"

// getMedia answers with a file. Of an image it answers with the variant that wholeImage chooses.
func (h *Handlers) getMedia(c *route.Call, in *api.GetMedia) (*route.Content, error) {
	f, err := h.visibleMedia(c, in.ID, in.MediaLink)
	if err != nil {
		return nil, err
	}
	variant := wholeFile
	if len(f.Variants) > 0 {
		variant = wholeImage(f.Type == "image/webp")
	}
	return h.content(f, variant, f.Type, f.Bytes), nil
}

// visibleMedia returns a file that the caller may read: a public file, a file of the
// caller's organization, or one to which the caller has a signed link. To all others without a
// link, a private file is answered as missing.
func (h *Handlers) visibleMedia(c *route.Call, id string, link api.MediaLink) (*media.File, error) {
	n, ok := route.ReadNumber(id)
	if !ok {
		return nil, noMedia
	}
	f, err := h.Table.Get(c.Context, n)
	switch {
	case err != nil:
		return nil, err
	case f == nil, f.Private && link.Signature == "" && !route.SeesMore(c, f.Org):
		return nil, noMedia
	case !f.Private || route.SeesMore(c, f.Org):
		return f, nil
	}
	return f, h.checkMediaLink(c, f.ID, link)
}

// checkMediaLink refuses a link that we have not made, that has expired, or whose viewer no
// longer holds the ticket that it was made for. The refusals have different reasons,
// so that a caller can tell a link that has expired from one whose ticket has ended.
func (h *Handlers) checkMediaLink(c *route.Call, media int64, link api.MediaLink) error {
	viewer, ok := h.Secrets.OpenMedia(media, link.Expires, link.Signature)
	if !ok {
		return &engine.Refusal{Code: engine.Forbidden, Message: "This link is not valid.", Details: route.Reason{Reason: "LINK_INVALID"}}
	}
	if c.Now.Unix() >= link.Expires {
		return &engine.Refusal{Code: engine.Forbidden, Message: "This link has ended.", Details: route.Reason{Reason: "LINK_EXPIRED"}}
	}
	holds, err := h.Read.Holds(c.Context, viewer.Event, viewer.Serial, viewer.Version)
	if err == nil && !holds {
		err = &engine.Refusal{Code: engine.Forbidden, Message: "The ticket of this link is not its viewer's any more.", Details: route.Reason{Reason: "TICKET_ENDED"}}
	}
	return err
}

// content returns the answer with the bytes of one variant of a file. It opens the file only when the bytes are sent.
// Nobody may cache a private file. A file with sizes (an image) is shown in the browser; any other is downloaded.
func (h *Handlers) content(f *media.File, variant, mediaType string, size int64) *route.Content {
	name := f.Name
	if variant != wholeFile {
		name = strings.TrimSuffix(name, filepath.Ext(name)) + "-" + variant
	}
	out := &route.Content{
		Type: mediaType, Name: name, Inline: len(f.Variants) > 0, Size: size, At: f.CreatedAt, Cache: forPublic,
		Tag: `"` + hex.EncodeToString(f.Sum[:12]) + "-" + variant + `"`,
		Open: func(ctx context.Context, offset, length int64) (io.ReadCloser, error) {
			return h.Blobs.Open(ctx, blobKey(f.ID, variant), offset, length)
		},
	}
	if f.Private {
		out.Cache = "private, no-store"
	}
	return out
}
