package files

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// fileType is a row of the list of file types that are accepted: how a file's name may end, which
// media types may be declared for it, and what its first bytes must be. All three must fit the same
// row. A file without a declared type, or declared as octets, fits by the other two. Lists in the
// fields are separated by spaces.
type fileType struct {
	extensions string // without dots
	media      string // the media type as which the file is stored
	declared   string // other media types that may be declared for it
	found      string // the media types that its first bytes may show; "": only media
	field      string // the value of the form's "field" that it may have, besides none
}

// The first bytes of a file may only show a more general type than the file's own. A document of an
// office program, for example, may only be recognized as a zip archive or an OLE file. These are
// parts of the lists of such types, and the common prefixes of types.
const (
	zipped = "application/zip "
	office = "application/vnd.openxmlformats-officedocument."
	open   = "application/vnd.oasis.opendocument."
	plain  = "text/plain text/csv text/tab-separated-values application/json application/x-ndjson text/vcard text/calendar application/x-subrip text/vtt"
	movie  = "video/mp4 video/quicktime video/x-m4v audio/mp4 audio/x-m4a video/3gpp"
	ole    = "application/x-ole-storage "
)

// octets is the media type that programs declare for a file whose type they don't know.
const octets = "application/octet-stream"

// fileTypes is the list of file types that uploadFile accepts.
var fileTypes = []fileType{
	{"pdf", "application/pdf", "application/x-pdf", "", "pdf"},
	{"doc", "application/msword", "", ole + "application/msword", ""},
	{"xls", "application/vnd.ms-excel", "", ole + "application/vnd.ms-excel", ""},
	{"ppt", "application/vnd.ms-powerpoint", "", ole + "application/vnd.ms-powerpoint", ""},
	{"docx", office + "wordprocessingml.document", "", zipped + office + "wordprocessingml.document", ""},
	{"xlsx", office + "spreadsheetml.sheet", "", zipped + office + "spreadsheetml.sheet", ""},
	{"pptx", office + "presentationml.presentation", "", zipped + office + "presentationml.presentation", ""},
	{"odt", open + "text", "", zipped + open + "text", ""},
	{"ods", open + "spreadsheet", "", zipped + open + "spreadsheet", ""},
	{"odp", open + "presentation", "", zipped + open + "presentation", ""},
	{"rtf", "application/rtf", "text/rtf application/msword", "text/rtf", ""},
	{"txt", "text/plain", "", plain, ""},
	{"csv", "text/csv", "text/plain application/csv application/vnd.ms-excel", plain, ""},
	{"md", "text/markdown", "text/plain text/x-markdown", plain, ""},

	{"epub", "application/epub+zip", "", zipped + "application/epub+zip", ""},
	{"mobi", "application/x-mobipocket-ebook", "", "", ""},
	{"azw3", "application/vnd.amazon.ebook", "application/vnd.amazon.mobi8-ebook application/x-mobi8-ebook application/x-mobipocket-ebook", "application/x-mobipocket-ebook", ""},
	{"fb2", "application/x-fictionbook+xml", "application/x-fictionbook text/xml application/xml text/fb2+xml", "text/xml", ""},

	{"zip", "application/zip", "application/x-zip-compressed application/x-zip", "application/zip", ""},
	{"rar", "application/vnd.rar", "application/x-rar-compressed application/x-rar", "application/x-rar-compressed application/vnd.rar", ""},
	{"7z", "application/x-7z-compressed", "", "", ""},
	{"tar", "application/x-tar", "", "", ""},
	{"gz", "application/gzip", "application/x-gzip", "", ""},

	{"mp3", "audio/mpeg", "audio/mp3", "", ""},
	{"wav", "audio/wav", "audio/x-wav audio/wave audio/vnd.wave", "", ""},
	{"ogg", "audio/ogg", "application/ogg video/ogg", "application/ogg audio/ogg video/ogg", ""},
	{"m4a", "audio/mp4", "audio/x-m4a audio/m4a video/mp4", "audio/x-m4a audio/mp4 video/mp4", ""},
	{"flac", "audio/flac", "audio/x-flac", "", ""},
	{"aac", "audio/aac", "audio/x-aac audio/aacp audio/vnd.dlna.adts", "", ""},

	{"mp4", "video/mp4", "", movie, "video"},
	{"webm", "video/webm", "audio/webm", "video/webm", "video"},
	{"mov", "video/quicktime", "video/mp4", movie, "video"},
	{"m4v", "video/x-m4v", "video/mp4 video/m4v", movie, "video"},

	{"png", "image/png", "", "", ""},
	{"jpg jpeg jfif jpe", "image/jpeg", "image/jpg image/pjpeg", "", ""},
	{"webp", "image/webp", "", "", ""},
	{"gif", "image/gif", "", "", ""},
}

// imageTypes is the list of image types that uploadImage accepts and makes sizes of. An image that
// is sent to uploadFile instead is stored as it was sent.
var imageTypes = []fileType{
	{"png", "image/png", "", "image/png image/vnd.mozilla.apng image/apng", ""},
	{"jpg jpeg jfif jpe", "image/jpeg", "image/jpg image/pjpeg", "", ""},
	{"webp", "image/webp", "", "", ""},
	{"avif", "image/avif", "", "", ""},
}

// typeOf finds the type of a file among those that are taken, by its name, by what it was
// declared as and by its first bytes. The details of a refusal say which of the three does
// not fit.
func typeOf(types []fileType, f *route.Part) (*fileType, error) {
	if len(f.Head) == 0 {
		return nil, engine.Refuse(engine.EmptyFile, nil)
	}
	t, err := typeNamed(types, f.File)
	if err != nil {
		return nil, err
	}
	if f.Type != "" && f.Type != octets && f.Type != t.media && !isWord(f.Type, t.declared) {
		return nil, unsupported("type", f.Type)
	}
	found := mimetype.Detect(f.Head)
	is, _, _ := strings.Cut(found.String(), ";")
	if t.found == "" && !found.Is(t.media) || t.found != "" && !isWord(is, t.found) {
		return nil, unsupported("content", is)
	}
	return t, nil
}

// typeNamed returns the type with the extension of a file's name, or refuses the file.
func typeNamed(types []fileType, f *route.File) (*fileType, error) {
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(f.Name), "."))
	i := slices.IndexFunc(types, func(t fileType) bool { return isWord(extension, t.extensions) })
	if i < 0 {
		return nil, unsupported("extension", extension)
	}
	return &types[i], nil
}

// judgeFile bounds a file by its type, and by the room that its organization has, before
// the file is read. Only the fields that came before the file are known by then, so a video
// has the limit of videos only if the form has named its field first.
func (h *Handlers) judgeFile(c *route.Call, p *route.Part) (route.Bound, error) {
	t, err := typeOf(fileTypes, p)
	if err != nil {
		return route.Bound{}, err
	}
	limit := int64(documentLimit)
	if t.field == "video" && p.Fields["field"] == "video" {
		limit = h.VideoLimit
	}
	return h.boundByQuota(c, p, limit)
}

// judgeImage bounds an image by its type and by the room that its organization has.
func (h *Handlers) judgeImage(c *route.Call, p *route.Part) (route.Bound, error) {
	if _, err := typeOf(imageTypes, p); err != nil {
		return route.Bound{}, err
	}
	return h.boundByQuota(c, p, imageLimit)
}

// BytesOf returns how many bytes an organization's files take, and the most that they may.
func (h *Handlers) BytesOf(ctx context.Context, org int64) (used, most int64, err error) {
	used, err = h.Table.Used(ctx, org)
	return used, h.Quota, err
}

// boundByQuota returns the smaller of a limit and the bytes that the organization has left. It
// returns the limit alone in two cases. The form may name the organization only after the file, and
// then the handler checks it. And a request with an Idempotency-Key may repeat one whose file is
// already stored, so the quota is checked when the file is stored (keep).
func (h *Handlers) boundByQuota(c *route.Call, p *route.Part, limit int64) (route.Bound, error) {
	org, err := route.FindOrganization(c, p.Fields["orgId"], p.Query("orgId"))
	if err != nil || c.IdempotencyKey != "" {
		return route.Bound{Bytes: limit}, nil //nolint:nilerr // see above
	}
	used, err := h.Table.Used(c.Context, org)
	if err != nil {
		return route.Bound{}, err
	}
	if left := h.Quota - used; left < limit {
		return route.Bound{Bytes: max(0, left), Beyond: h.noRoom()}, nil
	}
	return route.Bound{Bytes: limit}, nil
}

// isWord reports whether a word is in a list of words that are separated by spaces.
func isWord(word, list string) bool { return slices.Contains(strings.Fields(list), word) }

// unsupported refuses a file. what names the part that does not fit (extension, type, content or
// field), and value is that part's value.
func unsupported(what, value string) *engine.Refusal {
	return engine.Refuse(engine.UnsupportedFile, map[string]string{"reason": what, "found": value})
}
