package hosted

import (
	"fmt"
	"net/url"
	"path"
	"reflect"
	"strconv"
	"strings"

	"boxoffice/edge/route"
	"boxoffice/edge/route/format"
)

// Named is one of our files that a request names.
type Named struct {
	Path string // the path of the field that names the file, such as gallery[1]
	ID   int64
}

// ReadLink returns the number of the file that a link leads to if it is a file of ours. base is our own
// address. A browser follows many spellings to the same file: without our address, or with it in upper or lower
// case and with a default port; with escapes, dots or slashes; and with a query. So both the code that stores
// links and the code that signs them use this function.
func ReadLink(base, link string) (id int64, ours bool) {
	u, err := url.Parse(strings.ReplaceAll(strings.TrimSpace(link), `\`, "/"))
	if err != nil || u.Opaque != "" {
		return 0, false
	}
	if u.Host != "" {
		if our, err := url.Parse(base); err != nil || !sameServer(our, u) {
			return 0, false
		}
	}
	digits, ours := strings.CutPrefix(path.Clean("/"+u.Path), format.HostedPrefix)
	id, err = strconv.ParseInt(digits, 10, 64)
	return id, ours && err == nil && id > 0
}

// sameServer reports whether two addresses lead to the same server. The ports 80 and 443 count as
// the same, because a server with https commonly answers http too.
func sameServer(a, b *url.URL) bool {
	name := func(u *url.URL) string { return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) }
	port := func(u *url.URL) string {
		if p := strings.TrimLeft(u.Port(), "0"); p != "80" && p != "443" {
			return p
		}
		return ""
	}
	return name(a) == name(b) && port(a) == port(b)
}

// FindNamed returns our files that a decoded request names in its fields of the format hosted. It
// rewrites each of these fields to the form /media/<id>.
func FindNamed(base string, in any) []Named {
	return findNamedIn(nil, base, reflect.ValueOf(in), "", "")
}

// findNamedIn appends to found the files that v names, and rewrites their links in v. tag is the format of the field
// that v comes from, and path is the path of that field. It follows pointers, slices, structs and Opts. The members of
// an embedded struct have the path of the struct around it.
func findNamedIn(found []Named, base string, v reflect.Value, tag, path string) []Named {
	switch v.Kind() { //nolint:exhaustive // no other kind holds a text
	case reflect.Pointer:
		if !v.IsNil() {
			found = findNamedIn(found, base, v.Elem(), tag, path)
		}
	case reflect.String:
		if tag != "hosted" {
			break
		}
		if id, ours := ReadLink(base, v.String()); ours {
			v.SetString(format.HostedPrefix + strconv.FormatInt(id, 10))
			found = append(found, Named{path, id})
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = findNamedIn(found, base, v.Index(i), tag, fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[route.Optional](v); ok {
			return findNamedIn(found, base, v.FieldByName("Value"), tag, path)
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
			found = findNamedIn(found, base, value, f.Tag.Get("format"), at)
		}
	default: // other kinds name no file
	}
	return found
}
