package files

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows: an organization uploads images and other files, and everybody reads them by
// their links.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/media",
			Tag:    "Media",
			Auth:   own,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound, engine.UnsupportedFile, engine.EmptyFile},
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/upload",
					ID:          "uploadImage",
					Summary:     "Upload an image",
					Description: "For the organization: a PNG, JPEG, WebP or AVIF of up to 50 MB and 50 megapixels, in the part `file`, is turned upright and kept in three sizes, each as WebP and JPEG. What was sent is not kept, so no metadata is; an image that nothing names for 7 days is removed.",
					Status:      201,
					Timeout:     time.Minute,
					Handler:     route.Upload(h.judgeImage, h.uploadImage),
				},
				{
					Method:      "POST",
					Path:        "/upload-file",
					ID:          "uploadFile",
					Summary:     "Upload a file",
					Description: "For the organization: a file in the part `file` is kept as it is, documents up to 45 MB and videos with `field=video` up to what the deployment takes. Its name, its declared type and its first bytes must agree, else it is 415; a file that nothing names for 7 days is removed.",
					Status:      201,
					Timeout:     time.Minute,
					Handler:     route.Upload(h.judgeFile, h.uploadFile),
				},
			},
		},
		route.Group{
			Prefix: "/media/{id}",
			Tag:    "Media",
			Auth:   route.Public | own,
			Read:   route.EventsRead,
			Tier:   route.TierPublic,
			Errors: codes{engine.Forbidden},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getMedia",
					Summary:     "Read a file",
					Description: "For everybody who has the address of a public file: browsers show images and save all else. A private one needs its organization's credentials or a link with `exp` and `sig`, and does not exist without (404).",
					Handler:     route.Bytes([]string{"*/*"}, h.getMedia),
				},
				{
					Method:      "GET",
					Path:        "/{variant}",
					ID:          "getMediaVariant",
					Summary:     "Read an image in another size or format",
					Description: "For pages that show an image at a size of theirs, such as `thumbnail.webp`. A public one never changes, so clients and proxies may keep it for a year.",
					Handler:     route.Bytes([]string{"image/jpeg", "image/webp"}, h.getMediaVariant),
				},
			},
		},
	)
}
