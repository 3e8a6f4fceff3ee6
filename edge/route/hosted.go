package route

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// HostedFile is one of our files that a request names.
type HostedFile struct {
	Path string // of the field that names it, such as gallery[1]
	ID   int64
}

// HostedFiles are our files that a request names, after it has been read: the values /media/<id> of
// its fields of format hosted.
func HostedFiles(in any) []HostedFile {
	return hostedIn(nil, reflect.ValueOf(in), "", "")
}

func hostedIn(found []HostedFile, v reflect.Value, format, path string) []HostedFile {
	switch v.Kind() { //nolint:exhaustive // no other kind holds a text
	case reflect.Pointer:
		if !v.IsNil() {
			found = hostedIn(found, v.Elem(), format, path)
		}
	case reflect.String:
		if id, ok := strings.CutPrefix(v.String(), HostedPrefix); ok && format == "hosted" {
			if n, err := strconv.ParseInt(id, 10, 64); err == nil {
				found = append(found, HostedFile{path, n})
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = hostedIn(found, v.Index(i), format, fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[Optional](v); ok {
			return hostedIn(found, v.FieldByName("Value"), format, path)
		}
		for f, value := range v.Fields() {
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			at := strings.TrimPrefix(path+"."+name, ".")
			if f.Anonymous && name == "" {
				at = path
			}
			found = hostedIn(found, value, f.Tag.Get("format"), at)
		}
	default: // other kinds name no file
	}
	return found
}
