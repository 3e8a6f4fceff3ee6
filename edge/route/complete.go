package route

import (
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"boxoffice/engine"
)

var (
	pathPattern = regexp.MustCompile(`^(/([a-zA-Z0-9.][a-zA-Z0-9._-]*|\{[a-zA-Z][a-zA-Z0-9]*\}))+$`)
	idPattern   = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)
	parameter   = regexp.MustCompile(`\{[^}]*\}`)
)

// Incomplete lists what is missing or contradictory in a table's rows. A node does not start with a
// table that has any such fault.
func Incomplete(ops []Op) []string {
	var found []string
	ids, paths := map[string]bool{}, map[string]bool{}
	for i := range ops {
		op := &ops[i]
		key := op.Method + " " + parameter.ReplaceAllString(op.Path, "{}")
		wrong := append(op.rowFaults(), op.handlerFaults()...)
		if ids[op.ID] {
			wrong = append(wrong, "the operation id is taken")
		}
		if paths[key] {
			wrong = append(wrong, "the path is taken")
		}
		ids[op.ID], paths[key] = true, true
		for _, w := range wrong {
			found = append(found, fmt.Sprintf("%s (%s %s): %s", op.ID, op.Method, op.Path, w))
		}
	}
	return found
}

// rowFaults lists the faults of the row itself: what is missing, malformed or does not fit together among
// its fields, whatever its handler reads.
func (op *Op) rowFaults() []string {
	var found []string
	must := func(holds bool, format string, args ...any) {
		if !holds {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	must(slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, op.Method), "Method %q", op.Method)
	must(pathPattern.MatchString(op.Path), "Path is malformed")
	must(idPattern.MatchString(op.ID), "ID %q", op.ID)
	must(op.Summary != "" && op.Tag != "", "Summary and Tag are for the document")
	must(op.Auth != 0, "Auth: who may use it")
	must(!op.Auth.Has(Member|Key) || op.Scope != 0, "Scope: what members and API keys need")
	must(op.Auth.Has(Member|Key) || op.Scope == 0, "Scope is for members and API keys")
	must(!op.Auth.Has(Key) || op.Scope&Manage == 0, "no API key has the scope manage")
	must(Limits[op.Tier].PerMinute > 0, "Tier: what limits it")
	must(op.Status >= 200 && op.Status < 300, "Status %d is no success", op.Status)
	must(op.Writes() == slices.Contains([]Idempotency{Replay, ByActor, BySender}, op.Idempotency), "Idempotency: how a write knows its repeats, and only a write")
	must(op.Errors != nil, "Errors: its own refusals, empty if there are none")
	must(op.Timeout <= time.Minute, "Timeout is too long")
	must(!op.AtGates || op.Auth.Has(Key) && !op.Auth.Has(Public), "AtGates is for rows that need a key")
	must(op.MaxBody <= 8<<20, "MaxBody is beyond the limit")
	for i, code := range op.Errors {
		_, known := engine.CodeTable[code]
		must(known, "Errors: %s is not in the catalogue", code)
		must(!slices.Contains(op.Errors[:i], code), "Errors: %s stands twice", code)
	}
	return found
}

// handlerFaults lists the faults of the handler: that there is none, a body for a GET, an answer that does not
// fit the status, parameters that are not the parameters of the path, a row for gates whose request does not
// name the event, and fields without a limit (listUnbounded).
func (op *Op) handlerFaults() []string {
	if op.Handler.In == nil {
		return []string{"Handler: use route.Handle"}
	}
	var found []string
	if op.Method == http.MethodGet && (op.Handler.HasBody() || op.Handler.Raw != "") {
		found = append(found, "GET has no body")
	}
	if (op.Handler.Out == reflect.TypeFor[None]()) != (op.Status == http.StatusNoContent) {
		found = append(found, "status 204 and route.None go together")
	}
	var names []string
	for _, p := range parameter.FindAllString(op.Path, -1) {
		names = append(names, strings.Trim(p, "{}"))
	}
	var bound []string
	for _, p := range op.Handler.PathParams() {
		bound = append(bound, p.Name)
	}
	slices.Sort(names)
	slices.Sort(bound)
	if !slices.Equal(names, bound) {
		found = append(found, fmt.Sprintf("the path has %v, the request binds %v", names, bound))
	}
	if op.AtGates && !slices.Contains(names, eventParam) && !reflect.PointerTo(op.Handler.In).Implements(reflect.TypeFor[EventNamed]()) {
		found = append(found, "AtGates: neither the path nor the request names the event")
	}
	return append(found, listUnbounded(op.Handler.In, op.Handler.In.Name(), nil)...)
}

// listUnbounded lists the fields of a request, in path, query, headers and body, that lack a limit, so
// that a client could make them as long or as large as it likes. seen holds the types around t.
func listUnbounded(t reflect.Type, where string, seen []reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == timeType || slices.Contains(seen, t) {
		return nil
	}
	var found []string
	for f := range t.Fields() {
		at := where + "." + f.Name
		ft := f.Type
		if o, ok := reflect.TypeAssert[Optional](reflect.Zero(ft)); ok {
			ft = o.Inner()
		}
		found = append(found, unboundedField(ft, f.Tag, at)...)
		found = append(found, listUnbounded(ft, at, append(seen, t))...)
	}
	return found
}

// unboundedField lists which limits a field lacks that its type needs: maxItems for a list, maxLength for a
// text whose format does not limit it and for free-form JSON, minimum and maximum for a number. An enum is limit
// enough. It also finds a name that lacks the format name.
func unboundedField(t reflect.Type, tag reflect.StructTag, where string) []string {
	var found []string
	must := func(keys ...string) {
		for _, key := range keys {
			if tag.Get(key) == "" {
				found = append(found, where+" has no "+key)
			}
		}
	}
	for t != freeType && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		if t.Kind() == reflect.Slice {
			must("maxItems")
		}
		t = t.Elem()
	}
	switch kind := scalarOf(t); {
	case t == freeType: // MaxDepth bounds its depth
		must("maxLength")
	case kind == nil || kind == boolKind || kind == timeKind: // keepTime bounds times
	case tag.Get("enum") != "":
	case kind != stringKind:
		must("minimum", "maximum")
	case !slices.Contains(shortFormats, tag.Get("format")):
		must("maxLength")
		if named.MatchString(tag.Get("json")) && tag.Get("format") == "" {
			found = append(found, where+" is a name without format name")
		}
	}
	return found
}

// named matches the json tags of members that people read as one line on tickets, in mails and in
// spreadsheets. Such a member needs the format name.
var named = regexp.MustCompile(`^([a-zA-Z]*[a-z])?([nN]ame|[tT]itle|[lL]abel|[sS]ubject|[cC]ity)(,|$)`)

// shortFormats are the formats of texts that need no maxLength: either the format itself limits the
// length of the text, or (raw) the limit of the body is enough.
var shortFormats = []string{"raw", "email", "uuid", "date", "date-time", "timezone", "country", "currency"}
