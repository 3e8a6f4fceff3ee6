package catalog

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// fileType is a row of the list of files that are taken: what a file may be called, how
// it may be declared, and what must be found in it. All three must agree.
type fileType struct {
	extensions string // without dots
	media      string // what it is kept as
	declared   string // what else it may be declared as
	found      string // what its first bytes may be found to be; empty: media
	field      string // the form's field of which it may be, besides none
}

const (
	octets = "application/octet-stream" // what browsers say of what they don't know
	zipped = "application/zip "
	office = "application/vnd.openxmlformats-officedocument."
	open   = "application/vnd.oasis.opendocument."
	plain  = "text/plain text/csv text/tab-separated-values application/json application/x-ndjson text/vcard text/calendar application/x-subrip text/vtt"
	movie  = "video/mp4 video/quicktime video/x-m4v audio/mp4 audio/x-m4a video/3gpp"
	ole    = "application/x-ole-storage "
)

// fileTypes is the list of files that are taken.
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
	{"md", "text/markdown", "text/plain text/x-markdown " + octets, plain, ""},

	{"epub", "application/epub+zip", octets, zipped + "application/epub+zip", ""},
	{"mobi", "application/x-mobipocket-ebook", octets, "", ""},
	{"azw3", "application/vnd.amazon.ebook", "application/vnd.amazon.mobi8-ebook application/x-mobi8-ebook application/x-mobipocket-ebook " + octets, "application/x-mobipocket-ebook", ""},
	{"fb2", "application/x-fictionbook+xml", "application/x-fictionbook text/xml application/xml text/fb2+xml " + octets, "text/xml", ""},

	{"zip", "application/zip", "application/x-zip-compressed application/x-zip " + octets, "application/zip", ""},
	{"rar", "application/vnd.rar", "application/x-rar-compressed application/x-rar " + octets, "application/x-rar-compressed application/vnd.rar", ""},
	{"7z", "application/x-7z-compressed", octets, "", ""},
	{"tar", "application/x-tar", octets, "", ""},
	{"gz", "application/gzip", "application/x-gzip " + octets, "", ""},

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
	{"jpg jpeg", "image/jpeg", "image/jpg image/pjpeg", "", ""},
	{"webp", "image/webp", "", "", ""},
	{"gif", "image/gif", "", "", ""},
}

// imageTypes is the list of images that are taken as such.
var imageTypes = []fileType{
	{"png", "image/png", "", "image/png image/vnd.mozilla.apng image/apng", ""},
	{"jpg jpeg", "image/jpeg", "image/jpg image/pjpeg", "", ""},
	{"webp", "image/webp", "", "", ""},
	{"avif", "image/avif", "", "", ""},
}

// typeOf finds a file among the types that are taken, by its name, by what it was
// declared as and by what it is.
func typeOf(types []fileType, f *route.File) (*fileType, error) {
	if f.Size == 0 {
		return nil, engine.Refuse(engine.EmptyFile, nil)
	}
	extension := strings.ToLower(strings.TrimPrefix(filepath.Ext(f.Name), "."))
	i := slices.IndexFunc(types, func(t fileType) bool { return isWord(extension, t.extensions) })
	if i < 0 {
		return nil, unsupported("extension", extension)
	}
	t := &types[i]
	if f.Type != t.media && !isWord(f.Type, t.declared) {
		return nil, unsupported("type", f.Type)
	}
	found, err := mimetype.DetectFile(f.Path)
	if err != nil {
		return nil, err
	}
	is, _, _ := strings.Cut(found.String(), ";")
	if t.found == "" && !found.Is(t.media) || t.found != "" && !isWord(is, t.found) {
		return nil, unsupported("content", is)
	}
	return t, nil
}

// isWord reports whether a word is one of a list.
func isWord(word, list string) bool { return slices.Contains(strings.Fields(list), word) }

// unsupported refuses a file by what gave it away.
func unsupported(what, value string) *engine.Refusal {
	return engine.Refuse(engine.UnsupportedFile, map[string]string{"reason": what, "found": value})
}
