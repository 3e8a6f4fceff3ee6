package files

import (
	"archive/tar"
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
)

// heads is what files of each extension begin with.
func heads(t *testing.T) map[string]string {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "a", Size: 0, Mode: 0o600}))
	require.NoError(t, w.Close())
	const (
		oles  = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
		zips  = "PK\x03\x04\x14\x00\x00\x00\x00\x00"
		jpegs = "\xff\xd8\xff\xe0\x00\x10JFIF\x00"
		mobis = "BOOKMOBI"
	)
	pad := func(s string, n int) string { return s + strings.Repeat("\x00", n) }
	book := strings.Repeat("a", 60) + mobis + strings.Repeat("\x00", 32)
	all := map[string]string{
		"pdf": "%PDF-1.4\n", "rtf": `{\rtf1 a}`, "txt": "a", "csv": "a,b\nc,d\n", "md": "# a\n", "mobi": book, "azw3": book,
		"fb2": `<?xml version="1.0"?><a/>`, "rar": "Rar!\x1a\x07\x01\x00", "7z": "7z\xbc\xaf\x27\x1c\x00\x04", "tar": archive.String(), "gz": "\x1f\x8b\x08\x00",
		"mp3": "ID3\x04\x00\x00\x00\x00\x00\x01", "wav": "RIFF\x24\x00\x00\x00WAVEfmt ", "ogg": "OggS\x00\x02" + strings.Repeat("\x00", 22) + "\x01vorbis",
		"m4a": pad("\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00M4A isom", 16), "flac": "fLaC\x00\x00\x00\x22", "aac": "\xff\xf1\x50\x80\x00\x1f\xfc",
		"mp4": pad("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom", 16), "mov": pad("\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  ", 16),
		"m4v": pad("\x00\x00\x00\x18ftypM4V \x00\x00\x00\x00M4V isom", 16), "webm": "\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm",
		"png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "webp": "RIFF\x24\x00\x00\x00WEBPVP8 ", "gif": "GIF89a", "avif": pad("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00avifmif1", 16),
	}
	for content, extensions := range map[string]string{
		pad(oles, 1024): "doc xls ppt", zips: "docx xlsx pptx odt ods odp epub zip", jpegs: "jpg jpeg jfif jpe",
	} {
		for extension := range strings.FieldsSeq(extensions) {
			all[extension] = content
		}
	}
	return all
}

// TestDeclarations takes a file of each type that there is, as programs declare it: rightly, as any
// bytes, or not at all. What is declared wrongly, or has other content, is refused.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	all := heads(t)
	for _, types := range [][]fileType{fileTypes, imageTypes} {
		for i := range types {
			row := &types[i]
			for extension := range strings.FieldsSeq(row.extensions) {
				head, known := all[extension]
				require.True(t, known, extension)
				take := func(name, declared, head string) error {
					got, err := typeOf(types, &route.Part{File: &route.File{Name: name, Type: declared}, Head: []byte(head)})
					if err == nil {
						require.Equal(t, row.media, got.media, name)
					}
					return err
				}
				for _, declared := range append([]string{row.media, octets, ""}, strings.Fields(row.declared)...) {
					require.NoError(t, take("a."+extension, declared, head), "%s as %q", extension, declared)
					require.NoError(t, take("A."+strings.ToUpper(extension), declared, head), extension)
					require.Error(t, take("a."+extension, declared, "MZ\x90\x00 a program"), "%s as %q", extension, declared)
					require.Error(t, take("a.exe", declared, head), extension)
				}
				require.Error(t, take("a."+extension, "text/html", head), extension)
			}
		}
	}
}
